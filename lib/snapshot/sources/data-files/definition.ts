import { idDigits, idSchema } from '../../../platform/index.ts';
import { type HiveType, id, isId, moment, number, ownerName, timeOf, word } from '../../columns/index.ts';
import { type Columns, defineSource, resumable } from '../source-definition.ts';

/** The fields of data files according to the contract, and the columns made of them: see `Columns`. Only appended to. */
const dataFileColumns = {
  dataFileId: 'string',
  name: 'string',
  responsibleUserId: 'string',
  currentRevision: revision(),
  datetimeCreated: 'bigint',
  revisions: `array<${revision()}>`,
  existing: 'boolean',
  datetimeCreated_at: 'timestamp',
  _other: 'string',
} as const satisfies Columns;

function revision(): HiveType {
  const fields = {
    dataFileRevisionId: 'string',
    dataFileId: 'string',
    contentType: 'string',
    uploadUserId: 'string',
    sizeBytes: 'bigint',
    uploadTimeMillis: 'bigint',
    md5Hash: 'string',
    datetimeUploaded: 'bigint',
    scanState: 'string',
    sha256HashValue: 'string',
  };
  return `struct<${Object.entries(fields)
    .map(([name, type]) => `${name}:${type}`)
    .join(',')}>`;
}

export const dataFiles = defineSource({
  name: 'data-files',
  operation: 'getDataFile',
  takes: 'The metadata of data files, with their revisions.',
  fields: (list) => ({ ids: list(idSchema, { error: 'a list of data-file ids', most: 10_000 }) }),
  rules: [],
  // There is no list of all.
  narrowedBy: () => [],
  ids: { field: 'ids' },
  async openScan(_, { call, ids }) {
    const { dataFilesScan, fanOutPosition } = await import('./scan.ts');
    return resumable(dataFilesScan({ call, ids }), fanOutPosition);
  },
  columns: dataFileColumns,
  kind: 'data-file',
  names: ['data-file'],
  described: { type: 'currentrevision.scanstate', owner: 'responsibleuserid' },
  view: {
    row: 'data file',
    owner: 'responsibleuserid',
    made: {
      data_file_id: id('datafileid', 'the id of the data file', ['id', 'file_id']),
      owner_id: id('responsibleuserid', 'the id of the user who is responsible for it', ['owner', 'user_id']),
      owner_name: ownerName(),
      created_at: moment('datetimecreated_at', 'when it was created, in UTC'),
      size_bytes: number('currentrevision.sizebytes', 'the size of its current revision in bytes', {
        guesses: ['size', 'bytes'],
      }),
      scan_state: word(
        'currentrevision.scanstate',
        'what the scan of its current revision found, in lower case',
        {
          guesses: ['scan', 'status', 'state'],
        },
      ),
    },
    fields: {
      dataFileId: ['the same as data_file_id', isId],
      name: ['its name', { guesses: ['title', 'filename', 'file_name'] }],
      responsibleUserId: ['the same as owner_id', isId],
      currentRevision: 'its current revision, if it was asked for',
      datetimeCreated: timeOf('created_at', 'when it was created, in epoch milliseconds'),
      revisions: 'all of its revisions, if they were asked for; a row each in the table revisions',
      existing: 'whether it exists',
      datetimeCreated_at: ['the same as created_at', { guesses: ['created'] }],
    },
  },
  records: {
    key: { id: 'dataFileId', isInteger: true },
    label: 'name',
    volatile: [],
    sets: [],
  },
  options: [
    { field: 'ids', flags: '--id <id>', help: 'a data file; may be repeated', kind: 'list' },
    {
      field: 'ids',
      flags: '--ids-from <file>',
      help: 'a file with one id a line, or a CSV; - reads standard input',
      kind: 'ids',
      ids: {
        columns: ['id', 'ids', 'datafileid', 'datafile'],
        isId: (text) => idDigits(text) !== undefined,
        expected: 'the digits of a data file’s id',
        flag: '--ids-column',
      },
    },
    { field: 'ids', flags: '--ids-column <name>', help: 'the column of that CSV', kind: 'column' },
  ],
  examples: ['--id 40009 --id 40030', '--ids-from ids.txt'],
  sample: ({ dataFileIds }) => dataFileIds.slice(0, 3).flatMap((id) => ['--id', id]),
});

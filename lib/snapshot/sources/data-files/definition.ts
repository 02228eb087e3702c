import { id, moment, number, ownerName, stored, storedId, word } from '../../../columns.ts';
import { idDigits, idSchema } from '../../../platform/index.ts';
import { defineSource, resumable } from '../source-definition.ts';

const REVISION =
  'struct<dataFileRevisionId:string,dataFileId:string,contentType:string,uploadUserId:string,sizeBytes:bigint,uploadTimeMillis:bigint,md5Hash:string,datetimeUploaded:bigint,scanState:string,sha256HashValue:string>';

export const dataFiles = defineSource({
  name: 'data-files',
  operation: 'getDataFile',
  takes: 'The metadata of data files, with their revisions.',
  fields: (list) => ({
    /** The ids of the data files, as digits; at most 10,000. */
    ids: list(idSchema, { error: 'a list of data-file ids', max: 10_000 }),
  }),
  rules: [],
  // Ids do not narrow a snapshot here, since the platform has no list of all data files.
  narrowedBy: () => [],
  ids: { field: 'ids' },
  async openScan(_, { call, ids }) {
    const { dataFilesScan, fanOutPosition } = await import('./scan.ts');
    return resumable(dataFilesScan({ call, ids }), fanOutPosition);
  },
  kind: 'data-file',
  names: ['data-file'],
  described: { type: 'currentrevision.scanstate', owner: 'responsibleuserid' },
  table: {
    row: 'data file',
    columns: {
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
        { guesses: ['scan', 'status', 'state'] },
      ),
      dataFileId: storedId('the same as data_file_id'),
      name: stored('string', 'its name', { guesses: ['title', 'filename', 'file_name'] }),
      responsibleUserId: storedId('the same as owner_id'),
      currentRevision: stored(REVISION, 'its current revision, if it was requested'),
      datetimeCreated: stored('bigint', 'when it was created, in epoch milliseconds', {
        moment: 'created_at',
      }),
      revisions: stored(
        `array<${REVISION}>`,
        'all of its revisions, if they were requested; the table revisions has a row for each',
      ),
      existing: stored('boolean', 'whether it exists'),
      datetimeCreated_at: stored('timestamp', 'the same as created_at', { guesses: ['created'] }),
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

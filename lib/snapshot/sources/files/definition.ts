import * as z from 'zod/mini';
import { filledText, nearestName, utcTime, uuid, yesOrNo } from '../../../base/index.ts';
import {
  id,
  isWord,
  moment,
  momentOf,
  number,
  ownerName,
  sent,
  stored,
  storedId,
  word,
} from '../../../columns.ts';
import { searchFiles } from '../../../platform/operations/index.ts';
import { defineSource, resumable } from '../source-definition.ts';

/** Checks that a string is one of these names. The error suggests the most similar one. */
const named = (what: string, names: readonly string[]) =>
  z.refine<string>((text) => names.includes(text), {
    error({ input }) {
      const written = String(input);
      const same = names.find((name) => name.toLowerCase() === written.toLowerCase());
      const nearest = same ?? nearestName(written, names);
      return `${what} (${names.join(', ')})${nearest === undefined ? '' : `, such as ${nearest}`}`;
    },
  });

/** The fields of a file, according to the contract. */
const FIELDS = ['id', ...Object.keys(searchFiles.records.members)];

const OPERATORS = [
  'EQUALS',
  'IN',
  'LIKE',
  'IS_NULL',
  'GREATER_THAN',
  'GREATER_THAN_OR_EQUAL',
  'LESS_THAN',
  'LESS_THAN_OR_EQUAL',
];

/** A filter of a file search, with a field and an operator of the platform. The platform checks the values. */
const whereSchema = z.strictObject(
  {
    field: filledText.check(named('a field of a file', FIELDS)),
    operator: z.pipe(
      filledText,
      z.pipe(
        z.transform((text: string) => text.toUpperCase()),
        z.string().check(named('an operator', OPERATORS)),
      ),
    ),
    value: z.array(z.string({ error: 'text' }), { error: 'a list of texts' }),
    not: z.optional(yesOrNo),
  },
  { error: 'an object of field, operator and value' },
);

const EXPECTED_WHERE = 'FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000, or FIELD:IS_NULL';

export const files = defineSource({
  name: 'files',
  operation: 'searchFiles',
  takes: 'All files of each FileSet, or only those that match a search.',
  fields: (list) => ({
    /**
     * The ids of FileSets, at most 1,000. They are parsed to lower case, sorted, each once, so that the same FileSets
     * are the same selection.
     */
    filesets: z.pipe(
      list(uuid, { error: 'a list of FileSet ids', max: 1_000 }),
      z.transform((ids: string[]) => [...new Set(ids.map((id) => id.toLowerCase()))].sort()),
    ),
    /** Only files below this directory. Default: all. */
    directory: z.optional(z.string({ error: 'text' })),
    /** Whether to leave out files in subdirectories. Default: false. */
    immediate: z.optional(yesOrNo),
    /** Only files that match all of these filters. Default: all. */
    where: z.optional(z.array(whereSchema, { error: 'a list of filters' })),
    /** Only files that were created at this time or later, ISO 8601 in UTC. Default: all. */
    since: z.optional(utcTime),
    /** Only files that were created at this time or earlier, ISO 8601 in UTC. Default: all. */
    until: z.optional(utcTime),
  }),
  rules: [
    {
      at: 'since',
      expected: (named) => `a time that is not after ${named('until')}`,
      // If a date is unreadable, its own schema reports that.
      holds: ({ since, until }) => !(Date.parse(String(since)) > Date.parse(String(until))),
    },
    {
      at: 'directory',
      expected: (named) => `a directory, since ${named('immediate')} is given`,
      holds: ({ directory, immediate }) => immediate === undefined || directory !== undefined,
    },
  ],
  narrowedBy: ({ directory, where, since, until }) => [directory, where, since, until],
  async openScan({ filesets, directory, immediate, where, since, until }, { call }) {
    const { filesPosition, filesScan } = await import('./scan.ts');
    const dates = { ...(since && { start: since }), ...(until && { end: until }) };
    const search = {
      ...(directory !== undefined && { directoryPath: directory }),
      ...(immediate !== undefined && { immediateChildren: immediate }),
      ...(where && { filters: where }),
      ...((since || until) && { dateFilters: [{ field: 'created', ...dates }] }),
    };
    return resumable(filesScan({ call, filesetIds: filesets, search }), filesPosition);
  },
  kind: 'file',
  names: ['fileset', 'file'],
  described: { type: 'filetype', owner: 'createdby', fileset: '_filesetid' },
  table: {
    row: 'file or directory of a FileSet',
    guesses: ['fileset_files'],
    columns: {
      fileset_id: id('_filesetid', 'the id of the FileSet that it is in', ['fileset']),
      file_id: id('id', 'the id of the file'),
      file_type: word('filetype', 'text, image, directory and so on, in lower case', {
        guesses: ['type', 'extension'],
      }),
      size_bytes: number('size', 'its size in bytes; null for a directory', { guesses: ['bytes', 'length'] }),
      created_at: moment(momentOf('created'), 'when it was created, in UTC'),
      owner_id: id('createdby', 'the id of the user who created it', ['owner', 'user_id']),
      owner_name: ownerName(),
      index_status: word('indexstatus', 'how far the platform has indexed it, in lower case', {
        guesses: ['status'],
      }),
      _filesetId: storedId('the same as fileset_id'),
      id: storedId('the same as file_id'),
      path: stored('string', 'its path in the FileSet', { guesses: ['directory', 'folder', 'file_path'] }),
      name: stored('string', 'its name', { guesses: ['filename', 'file_name', 'title'] }),
      fileType: sent('file_type'),
      contentType: stored('string', 'its media type', { ...isWord, guesses: ['mime_type', 'media_type'] }),
      size: stored('bigint', 'the same as size_bytes'),
      created: stored('string', 'when it was created, as the platform wrote it', { moment: 'created_at' }),
      createdBy: storedId('the same as owner_id'),
      hash: storedId('the hash of its content', 'md5', 'sha256', 'checksum'),
      hashAlgorithm: stored('string', 'how the hash was made', isWord),
      downloadUrl: stored('string', 'where it could be downloaded when the snapshot was taken'),
      connectorKey: stored('string', 'the connector that it came by'),
      indexStatus: sent('index_status'),
      indexReason: stored('string', 'why it is not indexed'),
    },
  },
  records: {
    key: { owner: ['_filesetId'], id: 'id', isInteger: false },
    label: 'path',
    // The platform signs the address anew in every response.
    volatile: ['downloadUrl'],
    sets: [],
  },
  options: [
    { field: 'filesets', flags: '--fileset <id>', help: 'a FileSet; may be repeated', kind: 'list' },
    { field: 'directory', flags: '--directory <path>', help: 'only files below this directory' },
    { field: 'immediate', flags: '--immediate', help: 'only files directly in that directory' },
    {
      field: 'where',
      flags: '--where <field:operator:value>',
      help: 'only files that match this filter; !OPERATOR negates, commas separate the values of IN; may be repeated',
      kind: 'list',
      entry: { expected: EXPECTED_WHERE, read: readWhere },
    },
    {
      field: 'since',
      flags: '--since <date>',
      help: 'only files created at this time or later (ISO 8601)',
    },
    {
      field: 'until',
      flags: '--until <date>',
      help: 'only files created at this time or earlier (ISO 8601)',
    },
  ],
  examples: [
    '--fileset 5ab50524-9b3d-4a75-b88a-f20ea274b5d8',
    '--fileset 5ab50524-9b3d-4a75-b88a-f20ea274b5d8 --directory /reports --since 2026-11-01 --as reports',
  ],
  sample: ({ filesetIds }) => filesetIds.slice(0, 1).flatMap((id) => ['--fileset', id]),
});

/**
 * Parses `FIELD:OPERATOR:VALUE`; undefined for any other string. `!OPERATOR` negates the filter; IN takes several
 * values, separated by commas; IS_NULL takes no value.
 */
function readWhere(text: string): z.input<typeof whereSchema> | undefined {
  const [, field, not, operator, value] = /^([^:]+):(!?)([A-Za-z_]+)(?::(.*))?$/s.exec(text) ?? [];
  if (field === undefined || operator === undefined) return undefined;
  const takesNone = operator.toUpperCase() === 'IS_NULL';
  if ((value !== undefined) === takesNone) return undefined;
  const values = value === undefined ? [] : operator.toUpperCase() === 'IN' ? value.split(',') : [value];
  return { field, operator: operator.toUpperCase(), value: values, ...(not === '!' ? { not: true } : {}) };
}

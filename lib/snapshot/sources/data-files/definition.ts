import * as z from 'zod/mini';
import type { ListOf } from '../../../base/index.ts';
import { idSchema } from '../../../platform/index.ts';
import { expandNames } from '../../../platform/operations/get-data-file.ts';
import { defineSource } from '../define-source.ts';
import { givenIdsSchema } from '../given-ids.ts';
import { resumable } from '../resumable.ts';
import type { Columns, HiveType } from '../source-definition.ts';

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

export const dataFiles = defineSource(
  {
    name: 'data-files',
    operation: 'getDataFile',
    fields: (list: ListOf) => ({
      ids: list(idSchema, { error: 'a list of data-file ids', most: 10_000 }),
    }),
    selection: z.strictObject({ ids: givenIdsSchema, expand: z.array(z.string()) }),
    ids: { field: 'ids' },
    columns: dataFileColumns,
  },
  {
    takes: 'The metadata of data files, with their revisions.',
    rules: [],
    selectionOf: ({ ids }) => ({ selection: { expand: [...expandNames] }, ids }),
    async openScan({ expand }, { call, ids }) {
      const { dataFilesScan, fanOutPosition } = await import('./scan.ts');
      return resumable(dataFilesScan({ call, ids, expand }), fanOutPosition);
    },
    records: {
      key: { id: 'dataFileId', isInteger: true },
      label: 'name',
      volatile: [],
      sets: [],
      inKeyOrder: true,
    },
    options: [
      { flags: '--id <id>', help: 'a data file; may be repeated', field: 'ids', kind: 'list' },
      {
        flags: '--ids-from <file>',
        help: 'a file with one id a line; - reads standard input',
        field: 'ids',
        kind: 'lines',
      },
    ],
    sample: ({ dataFileIds }) => dataFileIds.slice(0, 3).flatMap((id) => ['--id', id]),
  },
);

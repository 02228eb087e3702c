import * as z from 'zod/mini';
import type { ListOf } from '../../../base/index.ts';
import { idSchema } from '../../../platform/index.ts';
import { expandNames } from '../../../platform/operations/get-data-file.ts';
import { defineSource } from '../define-source.ts';
import { givenIdsSchema } from '../given-ids.ts';
import { resumable } from '../resumable.ts';
import { dataFileColumns } from './columns.ts';

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

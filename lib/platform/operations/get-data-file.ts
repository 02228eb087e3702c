import * as z from 'zod/mini';
import { anyRecord } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { aboutRecord, type DataFile, dataFile, idSchema } from '../records.ts';

/** What `expand` may add to a data file. */
export const expandNames = ['revisions', 'metadata'] as const;

const input = z.strictObject({
  path: z.strictObject({ dataFileId: idSchema }),
  query: z.optional(z.strictObject({ expand: z.optional(z.string({ error: 'names separated by commas' })) })),
});

/** Where a response has its data files, and which field names one. */
const dataFiles = { keys: ['dataFileId'], keyIs: 'integer', members: dataFile } as const;

/** Reads a data file's metadata (contract 4.7). `expand` names `revisions` and `metadata`, separated by commas. */
export const getDataFile = {
  name: 'getDataFile',
  summary: 'Get data-file metadata',
  method: 'GET',
  path: '/api/data/v1/data-files/{dataFileId}/details',
  input,
  // The metadata need not contain the id.
  output: ({ path: { dataFileId } }) =>
    aboutRecord<'dataFileId', typeof dataFile>(anyRecord(), 'dataFileId', dataFileId),
  records: dataFiles,
  isResult: ({ dataFileId, datetimeCreated, currentRevision, revisions }) =>
    [dataFileId, datetimeCreated, currentRevision, revisions].some((value) => value !== undefined),
  mayRepeat: true,
  about: ({ path }) => `data file ${path.dataFileId}`,
} satisfies Endpoint<z.infer<typeof input>, DataFile>;

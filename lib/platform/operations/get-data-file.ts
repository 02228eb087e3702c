import * as z from 'zod/mini';
import { anyRecord } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { aboutRecord, type DataFile, dataFile, idSchema } from '../records.ts';

/** The possible names in `expand`. */
export const expandNames = ['revisions', 'metadata'] as const;

const input = z.strictObject({
  path: z.strictObject({ dataFileId: idSchema }),
  query: z.optional(z.strictObject({ expand: z.optional(z.string({ error: 'names separated by commas' })) })),
});

/** The field that identifies a data file; the response is one data file. */
const dataFiles = { keys: ['dataFileId'], keyIs: 'integer', members: dataFile } as const;

/** Reads a data file's metadata. `expand`: any of `revisions` and `metadata`, separated by commas. */
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

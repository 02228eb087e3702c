import * as z from 'zod/mini';
import type { Endpoint } from '../endpoint.ts';
import { idSchema } from '../id.ts';
import { type DataFile, dataFileSchema } from '../records.ts';

export const expandNames = ['revisions', 'metadata'] as const;

const input = z.strictObject({
  path: z.strictObject({ dataFileId: idSchema }),
  query: z.optional(z.strictObject({ expand: z.optional(z.string({ error: 'names separated by commas' })) })),
});

/** Reads a data file's metadata (contract 4.7). `expand` names `revisions` and `metadata`, separated by commas. */
export const getDataFile: Endpoint<z.infer<typeof input>, DataFile> = {
  name: 'getDataFile',
  summary: 'Get data-file metadata',
  method: 'GET',
  path: '/api/data/v1/data-files/{dataFileId}/details',
  input,
  output: dataFileSchema,
  mayRepeat: true,
  about: ({ path }) => `data file ${path.dataFileId}`,
};

import * as z from 'zod/mini';
import { filledText, isoTime, urlText, uuid, wholeNumber } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { fileSchema } from '../records.ts';

const negation = z.optional(z.boolean({ error: 'true or false' }));

const body = z.strictObject({
  fieldSort: z.optional(z.array(z.strictObject({ field: filledText, order: filledText }))),
  filters: z.optional(
    z.array(
      z.strictObject({
        field: filledText,
        value: z.array(z.string({ error: 'text' }), { error: 'a list of texts' }),
        not: negation,
        operator: filledText,
      }),
    ),
  ),
  dateFilters: z.optional(
    z.array(
      z.strictObject({
        field: filledText,
        start: z.optional(isoTime),
        end: z.optional(isoTime),
        not: negation,
      }),
    ),
  ),
});

const query = z.strictObject({
  directoryPath: z.optional(urlText),
  immediateChildren: z.optional(z.boolean({ error: 'true or false' })),
  limit: z.optional(wholeNumber(1, 5000)),
  next: z.optional(z.string({ error: 'a token' })),
});

const input = z.strictObject({ path: z.strictObject({ filesetId: uuid }), query: z.optional(query), body });

const filesResponse = z.looseObject({
  files: z.nullish(z.array(fileSchema)),
  pageContext: z.nullish(
    z.looseObject({
      next: z.nullish(z.string()),
      offset: z.nullish(z.number()),
      limit: z.nullish(z.number()),
      total: z.nullish(z.number()),
    }),
  ),
});

/** A search of files, without `next`: the directory, filters, dates and the order. */
export type FileSearch = Omit<z.input<typeof query>, 'next'> & z.input<typeof body>;
export type FilesResponse = z.infer<typeof filesResponse>;

/** Searches the files of one FileSet (contract 4.3): one page; `pageContext.next` leads to the next. */
export const searchFiles: Endpoint<z.infer<typeof input>, FilesResponse> = {
  name: 'searchFiles',
  summary: 'Search files in a FileSet',
  method: 'POST',
  path: '/api/files/v1/filesets/{filesetId}/files/search',
  input,
  output: filesResponse,
  mayRepeat: true,
  about: ({ path }) => `files of FileSet ${path.filesetId}`,
};

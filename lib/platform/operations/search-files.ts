import * as z from 'zod/mini';
import { filledText, uuid, wellFormed, wholeNumber, yesOrNo } from '../../base/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { file, isNothing, nullAsEmpty, recordIn, totalIn } from '../records.ts';

/** An ISO 8601 date and time with a zone, or a date. */
const isoTime = z.string({ error: 'an ISO 8601 date-time' }).check(
  z.refine((value) => /^\d{4}-\d{2}-\d{2}(T.+)?$/.test(value) && !Number.isNaN(Date.parse(value)), {
    error: 'an ISO 8601 date-time',
  }),
);

const body = z.strictObject({
  fieldSort: z.optional(z.array(z.strictObject({ field: filledText, order: filledText }))),
  filters: z.optional(
    z.array(
      z.strictObject({
        field: filledText,
        value: z.array(z.string({ error: 'text' }), { error: 'a list of strings' }),
        not: z.optional(yesOrNo),
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
        not: z.optional(yesOrNo),
      }),
    ),
  ),
});

/** Any string that a URL can contain. */
const urlText = z.string({ error: 'text' }).check(wellFormed);

const query = z.strictObject({
  directoryPath: z.optional(urlText),
  immediateChildren: z.optional(yesOrNo),
  limit: z.optional(wholeNumber(1, 5000)),
  next: z.optional(z.string({ error: 'a token' })),
});

const input = z.strictObject({ path: z.strictObject({ filesetId: uuid }), query: z.optional(query), body });

/** The member of a response that lists the files, and the field that identifies a file. */
const fileRows = { member: 'files', keys: ['id'], keyIs: 'text', members: file } as const;

/** The cursor and the total of a `pageContext`, each null if it is missing. Throws `Error` for an invalid cursor. */
export function pageContextOf(given: unknown): {
  readonly next: string | null;
  readonly total: number | null;
} {
  const { next = null, total }: Readonly<Record<string, unknown>> = Object(given ?? {});
  if (!isCursor(next)) throw new Error('pageContext.next: expected text or null');
  return { next: String(next ?? '') || null, total: totalIn(total) };
}

const isCursor = (next: unknown): boolean =>
  next === undefined || next === null || ['string', 'number', 'bigint'].includes(typeof next);

const filesResponse = z.looseObject({
  files: z.nullish(z.array(recordIn(fileRows))),
  pageContext: z.optional(
    z.custom<unknown>((given) => isCursor(Object(given ?? {}).next), { error: 'text or null as its next' }),
  ),
});

/**
 * Whether a response has no list because there are no files (see `isNothing`). `next`: the cursor that was sent, if any;
 * after it the list may be empty, whatever the total.
 */
export const hasNoFiles = (
  { pageContext, ...answer }: Readonly<Record<string, unknown>>,
  next: string | null | undefined,
): boolean => {
  const context = Object(pageContext ?? {});
  const before = next ? Number.POSITIVE_INFINITY : 0;
  // The context itself is not the list under another name, but one of its members might be.
  return isNothing({ ...answer, ...context }, { list: fileRows.member, total: context.total, before });
};

/** A search of files: the directory, filters, dates and the order. A page has `limit` rows, from 1 to 5000. */
export type FileSearch = Omit<z.input<typeof query>, 'next'> & z.input<typeof body>;

/** Searches the files of one FileSet. Returns one page; `pageContext.next` is the cursor of the next. */
export const searchFiles = {
  name: 'searchFiles',
  summary: 'Search files in a FileSet',
  method: 'POST',
  path: '/api/files/v1/filesets/{filesetId}/files/search',
  input,
  output: ({ query: { next } = {} }) =>
    z.pipe(
      nullAsEmpty,
      filesResponse.check(
        z.refine((answer) => answer.files || hasNoFiles(answer, next), {
          path: ['files'],
          error: 'a list, since the response has a total',
        }),
      ),
    ),
  records: fileRows,
  isResult: ({ files, pageContext }) => files !== undefined || pageContext !== undefined,
  mayRepeat: true,
  about: ({ path }) => `files of FileSet ${path.filesetId}`,
} satisfies Endpoint<z.infer<typeof input>, z.infer<typeof filesResponse>>;

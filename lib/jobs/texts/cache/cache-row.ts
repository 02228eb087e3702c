import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalJson, parseJson, printJson } from '../../../base/index.ts';
import type { SentimentRequest } from '../../../platform/index.ts';
import type { RowKey, StoredRow } from '../../../table/index.ts';

/** The start of every row's partition. */
export const CACHE_PREFIX = 'score#';

/** The row of a text and its request. The session does not matter, nor whether topics are absent or an empty list. */
export function cacheKey(host: string, request: SentimentRequest): RowKey {
  const { sessionId: _, topics = [], ...rest } = request;
  const given = Object.entries({ ...rest, ...(topics.length > 0 ? { topics } : {}) });
  // Through JSON text, which leaves out undefined members at any depth.
  const requested = parseJson(printJson(Object.fromEntries(given)));
  return { partition: `${CACHE_PREFIX}${sha256(canonicalJson({ host, request: requested }))}`, sort: '-' };
}

/** SHA-256 of a text's UTF-8, in hex: the name that it is forgotten by. */
export const textHashOf = (text: string): string => sha256(text);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const cacheRowSchema = z.object({
  state: z.enum(['FREE', 'SENT', 'SCORED']),
  textHash: z.string(),
  /** For people to read: a request id or a process. */
  owner: z.string(),
  /** The job that will count the sends. */
  payer: z.optional(z.string()),
  leaseEndsMs: z.number(),
  /** Those that may have been executed. */
  sends: z.number(),
  result: z.optional(z.string()),
});

/**
 * A text's row. FREE: no holder, but sends without a result. SENT: a holder, whose request is about to leave or has
 * left; once its lease has ended the text may be taken over, and may then be paid for again. SCORED: final.
 */
export type CacheRow = z.infer<typeof cacheRowSchema>;

export const parseCacheRow = ({ row }: StoredRow): CacheRow => cacheRowSchema.parse(row);

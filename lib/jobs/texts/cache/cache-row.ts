import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalJson, parseJson, printJson } from '../../../base/index.ts';
import type { SentimentRequest } from '../../../platform/index.ts';
import { type Sentiment, sentimentSchema } from '../../../platform/records.ts';
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
  owner: z.string(),
  payer: z.optional(z.string()),
  leaseEndsMs: z.number(),
  sends: z.number(),
  result: z.optional(z.string()),
});

/**
 * A text's row. FREE: no holder, but sends without a result. SENT: a holder, whose request is about to leave or has
 * left; once its lease has ended the text may be taken over, and may then be paid for again. SCORED: final.
 */
export type CacheRow = z.infer<typeof cacheRowSchema>;

export const parseCacheRow = ({ row }: StoredRow): CacheRow => cacheRowSchema.parse(row);

/** A text that this worker need not, or must not, send. */
export type Taken =
  /** `calls`: those that this payer spent on it; 0 if another job paid. */
  | { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number }
  /** Another worker is scoring it, and holds it until then: epoch milliseconds. */
  | { readonly kind: 'held'; readonly untilMs: number };

/** What a row, or none, says to a worker. `calls`: those of an open text that this payer is the one to count. */
export function standingOf(
  row: CacheRow | undefined,
  payer: string | undefined,
  nowMs: number,
): Taken | { readonly kind: 'open'; readonly calls: number } {
  const calls = row !== undefined && payer !== undefined && row.payer === payer ? row.sends : 0;
  if (row?.state === 'SCORED')
    return { kind: 'scored', result: sentimentSchema.parse(parseJson(row.result ?? 'null')), calls };
  if (row?.state === 'SENT' && row.leaseEndsMs > nowMs) return { kind: 'held', untilMs: row.leaseEndsMs };
  return { kind: 'open', calls };
}

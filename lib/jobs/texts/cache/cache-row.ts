import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalJson, parseJson, printJson } from '../../../base/index.ts';
import type { SentimentRequest } from '../../../platform/index.ts';
import { type Sentiment, sentimentSchema } from '../../../platform/records.ts';
import type { RowKey, StoredRow, Table } from '../../../table/index.ts';
import { RETENTION_MS } from '../batch/batch.ts';

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
  paidAgain: z.number(),
  result: z.optional(z.string()),
});

/**
 * A text's row. FREE: no holder, but sends without a result. SENT: a holder, whose request is about to leave or has
 * left; once its lease has ended the text may be taken over, and may then be paid for again. SCORED: final.
 */
export type CacheRow = z.infer<typeof cacheRowSchema>;

export const parseCacheRow = ({ row }: StoredRow): CacheRow => cacheRowSchema.parse(row);

export const parseResult = ({ result = 'null' }: CacheRow): Sentiment =>
  sentimentSchema.parse(parseJson(result));

/** Whether another worker has the text now. */
export const isHeld = ({ state, leaseEndsMs }: CacheRow, nowMs: number): boolean =>
  state === 'SENT' && leaseEndsMs > nowMs;

/** The calls of a text that this payer is the one to count. */
export const callsOf = ({ payer, sends }: CacheRow, counting: string | undefined): number =>
  counting !== undefined && payer === counting ? sends : 0;

/** What rows are written with. */
export type RowWriting = {
  readonly table: Table;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A new name at each call, such as a UUID. */
  readonly newToken: () => string;
  /** How long a row is stored, in milliseconds. Default 90 days. */
  readonly retentionMs?: number;
};

type Write = { readonly key: RowKey; readonly row: CacheRow; readonly expected: string | null };

export type Written =
  | { readonly kind: 'stored'; readonly token: string }
  | { readonly kind: 'other'; readonly current: StoredRow | undefined };

export async function writeCacheRow(
  { key, row, expected }: Write,
  { table, now, newToken, retentionMs = RETENTION_MS }: RowWriting,
): Promise<Written> {
  const token = newToken();
  const result = await table.put(key, row, { expected, token, expiresAtMs: now() + retentionMs });
  return result.kind === 'stored' ? { kind: 'stored', token } : result;
}

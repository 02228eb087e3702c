import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { anyRecord } from '../../../base/index.ts';
import { canonicalJson, parseJson, printJson } from '../../../base/json/index.ts';
import type { Sentiment, SentimentRequest } from '../../../platform/index.ts';
import type { RowKey, StoredRow } from '../../../table/index.ts';
import { type BatchStorage, RETENTION_MS } from '../batch/batch.ts';

/*
 * The states of a text's row:
 *
 * - no row, FREE, or SENT with an expired lease -(send)-> SENT
 * - SENT -(finish)-> SCORED
 * - SENT -(release)-> FREE, with the number of sends that may have been executed
 * - FREE -(forget: those sends were recorded elsewhere)-> no row
 * - SENT -(takeBack: the last send was certainly not executed)-> FREE; no row if there was no other send
 *
 * Each write replaces only the row that was read last. SCORED is final; only erasing a text deletes it. A write that
 * threw may have been stored anyway: the text that it claimed is free again once the lease has expired.
 */

/** The partitions of all rows of the cache begin with this. */
export const CACHE_PREFIX = 'score#';

/**
 * The key of the row of a text and its request. The session is left out, and an absent list of topics equals
 * an empty one.
 */
export function cacheKey(host: string, request: SentimentRequest): RowKey {
  const { sessionId: _, topics = [], ...rest } = request;
  const fields = Object.entries({ ...rest, ...(topics.length > 0 ? { topics } : {}) });
  // Printing and parsing JSON leaves out undefined members at any depth.
  const requested = parseJson(printJson(Object.fromEntries(fields)));
  return {
    partition: `${CACHE_PREFIX}${hash('sha256', canonicalJson({ host, request: requested }))}`,
    sort: '-',
  };
}

/** SHA-256 of a text's UTF-8, in hex. A text is forgotten by this hash. */
export const textHashOf = (text: string): string => hash('sha256', text);

const cacheRowSchema = z.object({
  state: z.enum(['FREE', 'SENT', 'SCORED']),
  textHash: z.string(),
  /** The id of a request or process, only for users who read the row. */
  owner: z.string(),
  payer: z.optional(z.string()),
  leaseEndsMs: z.number(),
  /** How many sends may have been executed. */
  sends: z.number(),
  result: z.optional(z.string()),
});

/**
 * The row of a text. FREE: no worker has the text, but there were sends without a result. SENT: a worker has the
 * text, and its request is about to leave or has left. Once the lease has expired, another worker may take the text,
 * which may then be paid for again. SCORED: the text has its result.
 */
type CacheRow = z.infer<typeof cacheRowSchema>;

/** Parses a row of the cache. Throws if it is invalid. */
export const parseCacheRow = ({ row }: StoredRow): CacheRow => cacheRowSchema.parse(row);

type ScoreCacheOptions = Pick<BatchStorage, 'table' | 'newToken' | 'now'> & {
  readonly host: string;
  readonly owner: string;
  /** Until this has resolved, `now` may be wrong (see `Ledger`). Default: it is never wrong. */
  readonly setTime?: (() => Promise<void>) | undefined;
  /** How long one attempt may take, in milliseconds. A claim lasts longer, and each send renews it. */
  readonly attemptMs: number;
  /**
   * How much longer than an attempt a claim lasts, in milliseconds: for writing the claim, waiting for the slot, and
   * storing the result. Default: 30 s.
   */
  readonly spareMs?: number | undefined;
};

/** The scores of texts, in the table that all workers share. */
export type ScoreCache = {
  /** Looks up at most 100 texts in one read, without claiming them. `payer`: the job to which the texts belong. */
  lookup(requests: readonly SentimentRequest[], payer?: string): Promise<readonly CacheLookup[]>;
};

/** A text with its result. `calls`: how many calls of this payer it took; 0 if another job paid for it. */
type ScoredText = { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number };

/**
 * A text that this worker need not send, or must not send because another worker has it until `untilMs` (epoch
 * milliseconds).
 */
export type CacheHit = ScoredText | { readonly kind: 'held'; readonly untilMs: number };

type CacheLookup = CacheHit | { readonly kind: 'open'; readonly claim: TextClaim };

/**
 * The right to score a text. The text is claimed by the write that records the first send, shortly before that send.
 */
export type TextClaim = {
  /** How many sends, which this payer must count, may have been executed without a result. */
  readonly sends: () => number;
  /**
   * Claims the text, or renews the lease, and records that a send is about to leave. No request may leave
   * unless the result is `sent`.
   */
  send(): Promise<CacheHit | { readonly kind: 'sent' }>;
  /** Records that the last send was certainly not executed, and frees the text. `send` may claim it again. */
  takeBack(): Promise<void>;
  /** Whether the lease outlasts an attempt that starts now. If not, another worker may take the text. */
  isHeld(): boolean;
  /**
   * Stores the result, unless the row already has one, and returns the row's result. Does not restore an erased row.
   */
  finish(result: Sentiment): Promise<ScoredText>;
  /** Frees the text, and stores the number of sends without a result, which the next holder counts. */
  release(): Promise<void>;
  /** Deletes the row that remains after a release. To be called after its sends have been counted. */
  forget(): Promise<void>;
};

/** The default of `spareMs`. */
const SPARE_MS = 30_000;

/** Creates the cache, which ensures that a text is paid for only once. */
export function createScoreCache(options: ScoreCacheOptions): ScoreCache {
  const { table, host, now, setTime } = options;
  return {
    async lookup(requests, payer) {
      const keys = requests.map((request) => cacheKey(host, request));
      const rows = keys.length === 0 ? [] : await table.getAll(keys);
      await setTime?.();
      return keys.map((key, at): CacheLookup => {
        const stored = rows[at];
        const hit = stored && hitIn(parseCacheRow(stored), payer, now());
        const { text = '' } = requests[at] ?? {};
        return hit ?? { kind: 'open', claim: createTextClaim({ key, text, payer, stored }, options) };
      });
    },
  };
}

/**
 * Maximum characters of a result in a row. Of a larger result, which no platform is known to send, only the members
 * in use are stored.
 */
const MAX_RESULT_CHARACTERS = 60_000;

function printedResult(result: Sentiment): string {
  const whole = printJson(result);
  if (whole.length <= MAX_RESULT_CHARACTERS) return whole;
  const { topicSentiments, sentiment, model, modelProviderUsage } = result;
  const used = Object.entries({ topicSentiments, sentiment, model, modelProviderUsage });
  return printJson(
    Object.fromEntries(
      used.filter(([, value]) => printJson([value]).length <= MAX_RESULT_CHARACTERS / used.length),
    ),
  );
}

/** The result in a row, or the claim of another worker; undefined if the text may be sent. */
function hitIn(row: CacheRow, payer: string | undefined, nowMs: number): CacheHit | undefined {
  if (row.state === 'SCORED') {
    const result: Sentiment = anyRecord().parse(parseJson(row.result ?? 'null'));
    return { kind: 'scored', result, calls: isPaidBy(row, payer) ? row.sends : 0 };
  }
  const isHeld = row.state === 'SENT' && row.leaseEndsMs > nowMs;
  return isHeld ? { kind: 'held', untilMs: row.leaseEndsMs } : undefined;
}

const isPaidBy = (row: CacheRow, payer: string | undefined) => payer !== undefined && row.payer === payer;

type LookedUpText = {
  readonly key: RowKey;
  readonly text: string;
  readonly payer: string | undefined;
  readonly stored: StoredRow | undefined;
};

function createTextClaim(lookedUp: LookedUpText, options: ScoreCacheOptions): TextClaim {
  const { payer } = lookedUp;
  const { now, newToken, attemptMs } = options;
  const { own, write, free } = openRow(lookedUp, options);
  // All tries use the same token, so that a try whose response was lost is recognized by the row's token.
  const resultToken = newToken();
  const isHeld = () => own.isOwn && now() + attemptMs <= own.row.leaseEndsMs;
  const sends = () => (own.isOwn || isPaidBy(own.row, payer) ? own.row.sends : 0);
  return {
    sends,
    isHeld,
    takeBack: () => free(own.row.sends - 1),
    async send() {
      for (;;) {
        await write({ state: 'SENT', sends: own.row.sends + 1 });
        if (isHeld()) return { kind: 'sent' };
        if (own.isOwn) {
          // The write took so long that another worker could take the text before the attempt ends.
          await free(own.row.sends - 1);
          return { kind: 'held', untilMs: now() };
        }
        const hit = own.token === null ? undefined : hitIn(own.row, payer, now());
        if (hit !== undefined) return hit;
      }
    },
    async finish(result) {
      for (;;) {
        await write({ state: 'SCORED', result: printedResult(result) }, resultToken);
        if (own.isOwn || own.token === null) return { kind: 'scored', result, calls: own.row.sends };
        // While this worker was suspended, another worker took the text for the same payer. The worker that ends the
        // chunk counts the calls of both.
        const hit = hitIn(own.row, payer, now());
        if (hit?.kind === 'scored') return hit;
      }
    },
    async release() {
      if (own.isOwn && own.row.state === 'SENT') await free(own.row.sends);
    },
    async forget() {
      if (sends() > 0) await free(0);
    },
  };
}

/** The row of a text as last read or written, its token (null if there is no row), and whether this claim wrote it. */
function openRow({ key, text, payer, stored }: LookedUpText, options: ScoreCacheOptions) {
  const { table, now, newToken, owner, attemptMs, setTime, spareMs = SPARE_MS } = options;
  const ours = { textHash: textHashOf(text), owner, ...(payer === undefined ? {} : { payer }) };
  const none: CacheRow = { ...ours, state: 'FREE', leaseEndsMs: 0, sends: 0 };
  const own = {
    row: stored === undefined ? none : parseCacheRow(stored),
    token: stored?.token ?? null,
    isOwn: false,
  };
  const write = async (changes: Pick<CacheRow, 'state'> & Partial<CacheRow>, token = newToken()) => {
    await setTime?.();
    const leaseEndsMs = now() + attemptMs + spareMs;
    const next: CacheRow = { ...ours, leaseEndsMs, sends: own.row.sends, ...changes };
    const needsReserve = changes.state === 'SENT';
    const reserve = { needsReserve, mayUseReserve: !needsReserve };
    const options = { expected: own.token, token, lifetimeMs: RETENTION_MS, ...reserve };
    const put = await table.put(key, next, options);
    await setTime?.();
    const current = put.kind === 'stored' ? { row: next, token } : put.current;
    own.isOwn = current?.token === token;
    own.token = current?.token ?? null;
    if (current !== undefined) own.row = parseCacheRow(current);
  };
  /** Frees the row, with this number of sends. If the number is 0, deletes the row. */
  const free = async (sends: number) => {
    if (sends > 0) return write({ state: 'FREE', sends });
    if (own.token !== null) await table.delete(key, own.token);
    Object.assign(own, { row: none, token: null });
  };
  return { own, write, free };
}

import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { parseJson, printJson } from '../../../json/json.ts';
import type { SentimentRequest } from '../../../platform/operations/analyze-sentiment.ts';
import { type Sentiment, sentimentSchema } from '../../../platform/records.ts';
import type { RowKey, StoredRow, Table } from '../../../table/table.ts';
import { RETENTION_MS } from '../batch/batch.ts';

export type ScoreCacheOptions = {
  readonly table: Table;
  /** The platform's host: the same text on two platforms is scored twice. */
  readonly host: string;
  /** Who holds the claims, for people to read: a request id or a process. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A new name at each call, such as a UUID. */
  readonly newToken: () => string;
  /**
   * How long a claim keeps others away, in milliseconds; each send renews it. Longer than one attempt may take.
   * Default 90,000.
   */
  readonly leaseMs?: number;
  /** How long a row is stored, in milliseconds. Default 90 days. */
  readonly retentionMs?: number;
};

/** The results of all texts and requests, shared by all workers: the first to claim a text pays for it. */
export type ScoreCache = {
  /**
   * The result, or the right to make it, unless another worker has that right. `payer` names the job that the text
   * belongs to: a result that the same job paid for in an earlier try is returned with the calls it took.
   */
  claim(request: SentimentRequest, payer?: string): Promise<Claimed>;
  /** The result, if there is one; claims nothing. */
  find(request: SentimentRequest): Promise<Sentiment | undefined>;
};

type Claimed =
  /** `calls`: those that this payer spent on it; 0 if another job paid. */
  | { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number }
  /** Another worker is scoring it, and holds it until then: epoch milliseconds. */
  | { readonly kind: 'held'; readonly untilMs: number }
  | { readonly kind: 'claimed'; readonly claim: TextClaim };

/** The right to score a text. Failures of the table are thrown as `TableError`. */
export type TextClaim = {
  /** Sends that may have been executed without their response being stored, including those of earlier holders. */
  readonly sends: () => number;
  /** Records that a send is about to leave. False if another worker has the text now: nothing may be sent. */
  send(): Promise<boolean>;
  /** Records that the last send was certainly not executed; the text stays claimed. */
  takeBack(): Promise<void>;
  /** Whether the lease still lasts: otherwise another worker may have taken the text over, and nothing may be sent. */
  isHeld(): boolean;
  /**
   * Stores the result. `stored` is the one in the cache afterwards, and `sends` the calls that it took: 0 if another
   * worker was faster, since that worker counts them.
   */
  finish(result: Sentiment): Promise<{ readonly stored: Sentiment; readonly sends: number }>;
  /** Releases the text, with the number of sends whose responses were lost: the next holder counts them. */
  release(): Promise<void>;
  /** Releases the text as if nothing had been sent: its sends have been counted. */
  forget(): Promise<void>;
};

const LEASE_MS = 90_000;
/** How often in a row other writers may be faster before a claim gives up; each of them changed the row. */
const MOST_RACES = 50;

export function createScoreCache(options: ScoreCacheOptions): ScoreCache {
  const { table, host } = options;
  return {
    async claim(request, payer) {
      const key = cacheKey(host, request);
      let stored = await table.get(key);
      for (let race = 0; race < MOST_RACES; race += 1) {
        const row = stored && parseCacheRow(stored);
        if (row?.state === 'SCORED') {
          const calls = payer !== undefined && row.payer === payer ? row.sends : 0;
          return { kind: 'scored', result: parseResult(row), calls };
        }
        if (row && row.state !== 'FREE' && row.leaseEndsMs > options.now())
          return { kind: 'held', untilMs: row.leaseEndsMs };
        const mine = claimedRow({ text: request.text, sends: row?.sends ?? 0, payer }, options);
        const write = await writeCacheRow({ key, row: mine, expected: stored?.token ?? null }, options);
        if (write.kind === 'stored')
          return { kind: 'claimed', claim: holdClaim({ key, row: mine, token: write.token }, options) };
        stored = write.current;
      }
      throw new Error(`${key.partition}: other workers were faster ${MOST_RACES} times in a row`);
    },
    async find(request) {
      const stored = await table.get(cacheKey(host, request));
      const row = stored && parseCacheRow(stored);
      return row?.state === 'SCORED' ? parseResult(row) : undefined;
    },
  };
}

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
  state: z.enum(['FREE', 'CLAIMED', 'SENT', 'SCORED']),
  textHash: z.string(),
  owner: z.string(),
  payer: z.optional(z.string()),
  leaseEndsMs: z.number(),
  sends: z.number(),
  paidAgain: z.number(),
  result: z.optional(z.string()),
});

/**
 * A text's row. FREE: no holder, but sends whose responses were lost. CLAIMED: may be taken over at no cost once its
 * lease has ended. SENT: may be taken over too, but the text may then be paid for again. SCORED: final.
 */
export type CacheRow = z.infer<typeof cacheRowSchema>;

export const parseCacheRow = ({ row }: StoredRow): CacheRow => cacheRowSchema.parse(row);

const parseResult = ({ result = 'null' }: CacheRow): Sentiment => sentimentSchema.parse(parseJson(result));

type Claiming = { readonly text: string; readonly sends: number; readonly payer: string | undefined };

const claimedRow = (
  { text, sends, payer }: Claiming,
  { owner, now, leaseMs = LEASE_MS }: ScoreCacheOptions,
) =>
  ({
    state: 'CLAIMED',
    textHash: textHashOf(text),
    owner,
    ...(payer === undefined ? {} : { payer }),
    leaseEndsMs: now() + leaseMs,
    sends,
    paidAgain: 0,
  }) as const satisfies CacheRow;

type Write = { readonly key: RowKey; readonly row: CacheRow; readonly expected: string | null };

type Written =
  | { readonly kind: 'stored'; readonly token: string }
  | { readonly kind: 'other'; readonly current: StoredRow | undefined };

async function writeCacheRow({ key, row, expected }: Write, options: ScoreCacheOptions): Promise<Written> {
  const token = options.newToken();
  const expiresAtMs = options.now() + (options.retentionMs ?? RETENTION_MS);
  const result = await options.table.put(key, row, { expected, token, expiresAtMs });
  return result.kind === 'stored' ? { kind: 'stored', token } : result;
}

type Held = { readonly key: RowKey; readonly row: CacheRow; readonly token: string };

function holdClaim(first: Held, options: ScoreCacheOptions): TextClaim {
  const { key } = first;
  let { row, token } = first;
  let isLost = false;
  // A write that threw may have been made all the same: then the row has its token.
  const tokens = new Set<string>();
  const own = { ...options, newToken: () => recorded(options.newToken(), tokens) };
  /** Updates the row; false, from then on, once another worker has it. */
  const update = async (changes: Partial<CacheRow>): Promise<boolean> => {
    if (isLost) return false;
    const leaseEndsMs = options.now() + (options.leaseMs ?? LEASE_MS);
    const next = { ...row, leaseEndsMs, ...changes };
    let write = await writeCacheRow({ key, row: next, expected: token }, own);
    if (write.kind === 'other' && tokens.has(write.current?.token ?? ''))
      write = await writeCacheRow({ key, row: next, expected: write.current?.token ?? null }, own);
    if (write.kind === 'other') isLost = true;
    else [row, token] = [next, write.token];
    return write.kind === 'stored';
  };
  const drop = async () => {
    if (!isLost) await options.table.delete(key, token);
    isLost = true;
  };
  return {
    sends: () => row.sends,
    async send() {
      if (!(await update({ state: 'SENT', sends: row.sends + 1 }))) return false;
      if (options.now() < row.leaseEndsMs) return true;
      // The write outlasted the lease: another worker may have taken the text over by the time the request leaves.
      await update({ state: 'CLAIMED', sends: row.sends - 1 });
      return false;
    },
    isHeld: () => options.now() < row.leaseEndsMs,
    takeBack: async () => {
      const sends = row.sends - 1;
      await update({ state: 'CLAIMED', sends });
    },
    finish: (result) => storeResult(key, { row, token, tokens }, result, own),
    release: async () => {
      if (row.sends === 0) await drop();
      else await update({ state: 'FREE' });
    },
    forget: drop,
  };
}

function recorded(token: string, tokens: Set<string>): string {
  tokens.add(token);
  return token;
}

/**
 * Writes the result over any row that has none, even if another worker has taken the text over since: that saves
 * their call. A row that is gone was erased, and stays erased.
 */
async function storeResult(
  key: RowKey,
  mine: { readonly row: CacheRow; readonly token: string; readonly tokens: ReadonlySet<string> },
  result: Sentiment,
  options: ScoreCacheOptions,
): Promise<{ readonly stored: Sentiment; readonly sends: number }> {
  let { row, token } = mine;
  for (let race = 0; race < MOST_RACES; race += 1) {
    const paidAgain = Math.max(0, row.sends - 1);
    const scored: CacheRow = { ...row, state: 'SCORED', paidAgain, result: printJson(result) };
    const write = await writeCacheRow({ key, row: scored, expected: token }, options);
    if (write.kind === 'stored') return { stored: result, sends: row.sends };
    if (write.current === undefined) return { stored: result, sends: row.sends };
    row = parseCacheRow(write.current);
    token = write.current.token;
    if (row.state === 'SCORED')
      return { stored: parseResult(row), sends: mine.tokens.has(token) ? row.sends : 0 };
  }
  throw new Error(`${key.partition}: other workers were faster ${MOST_RACES} times in a row`);
}

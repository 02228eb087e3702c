import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import { canonicalJson } from '../../../json/canonical-json.ts';
import { parseJson, printJson } from '../../../json/json.ts';
import type { SentimentRequest } from '../../../platform/operations/analyze-sentiment.ts';
import { type Sentiment, sentimentSchema } from '../../../platform/records.ts';
import type { RowKey, StoredRow, Table } from '../../../table/table.ts';

export type ScoreCacheOptions = {
  readonly table: Table;
  /** The platform's host: equal texts on two platforms are two. */
  readonly host: string;
  /** Who holds the claims, for people: a request id or a process. */
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** A new name at each call, such as a UUID. */
  readonly newToken: () => string;
  /**
   * How long a claim, and anew each send, keeps others away, in milliseconds: longer than one attempt may take.
   * Default 90,000.
   */
  readonly leaseMs?: number;
  /** How long a row is kept, in milliseconds. Default 90 days. */
  readonly keepMs?: number;
};

/** The results of all texts and requests, shared by all workers: whoever claims a text first pays for it. */
export type ScoreCache = {
  /**
   * The result, or the right to make it, unless somebody else has that. `payer` names the job that it is for: what the
   * same job paid for in an earlier try is told with its calls.
   */
  claim(request: SentimentRequest, payer?: string): Promise<Claimed>;
  /** The result, if it is there; claims nothing. */
  find(request: SentimentRequest): Promise<Sentiment | undefined>;
};

export type Claimed =
  /** `calls`: what the payer himself spent on it; 0 where it was somebody else. */
  | { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number }
  /** Somebody else scores it, and has until then: epoch milliseconds. */
  | { readonly kind: 'held'; readonly untilMs: number }
  | { readonly kind: 'claimed'; readonly claim: TextClaim };

/** The right to score a text. Failures of the table are thrown as `TableError`. */
export type TextClaim = {
  /** Sends that may have been executed without an answer that was kept, those of earlier holders too. */
  readonly sends: () => number;
  /** Notes that a send is about to leave. False if somebody else has the text now: nothing may be sent. */
  send(): Promise<boolean>;
  /** Notes that the last send was certainly not executed; the text stays claimed. */
  takeBack(): Promise<void>;
  /**
   * Keeps the result. `kept` is the one that is there then, and `sends` the calls that it took: 0 where somebody else
   * was faster, who counts them.
   */
  finish(result: Sentiment): Promise<{ readonly kept: Sentiment; readonly sends: number }>;
  /** Gives the text back, with the number of sends whose answers were lost: the next holder counts them. */
  release(): Promise<void>;
  /** Gives the text back as if nothing had been sent: the sends have been counted. */
  forget(): Promise<void>;
};

const LEASE_MS = 90_000;
const KEEP_MS = 90 * 24 * 3_600_000;
/** Writers that are faster in a row before a claim gives up; each of them moved the row on. */
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
      throw new Error(`${key.partition}: others were faster ${MOST_RACES} times in a row`);
    },
    async find(request) {
      const stored = await table.get(cacheKey(host, request));
      const row = stored && parseCacheRow(stored);
      return row?.state === 'SCORED' ? parseResult(row) : undefined;
    },
  };
}

/** What the partition of every row begins with. */
export const CACHE_PREFIX = 'score#';

/** The row of a text and what is asked of it. A session does not make a request another one, nor do no topics. */
export function cacheKey(host: string, request: SentimentRequest): RowKey {
  const { sessionId: _, topics = [], ...rest } = request;
  const given = Object.entries({ ...rest, ...(topics.length > 0 ? { topics } : {}) });
  // Through text: members that are undefined are left out, at any depth.
  const asked = parseJson(printJson(Object.fromEntries(given)));
  return { partition: `${CACHE_PREFIX}${sha256(canonicalJson({ host, request: asked }))}`, sort: '-' };
}

/** SHA-256 of a text's UTF-8, in hex: the name by which it is forgotten. */
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
 * A text's row. FREE has lost sends and no holder; CLAIMED may be taken over once its lease has ended, at no cost; so
 * may SENT, and the text may be paid for again then; SCORED stays.
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
  const expiresAtMs = options.now() + (options.keepMs ?? KEEP_MS);
  const result = await options.table.put(key, row, { expected, token, expiresAtMs });
  return result.kind === 'stored' ? { kind: 'stored', token } : result;
}

type Held = { readonly key: RowKey; readonly row: CacheRow; readonly token: string };

function holdClaim(first: Held, options: ScoreCacheOptions): TextClaim {
  const { key } = first;
  let { row, token } = first;
  let isLost = false;
  // A write that threw may have been made all the same: then its token stands in the row.
  const tokens = new Set<string>();
  const own = { ...options, newToken: () => noted(options.newToken(), tokens) };
  /** Moves the row on; false, for good, once somebody else has it. */
  const move = async (changes: Partial<CacheRow>): Promise<boolean> => {
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
      if (!(await move({ state: 'SENT', sends: row.sends + 1 }))) return false;
      if (options.now() < row.leaseEndsMs) return true;
      // The write took longer than the lease: another may have taken the text over by the time the request leaves.
      await move({ state: 'CLAIMED', sends: row.sends - 1 });
      return false;
    },
    takeBack: async () => {
      const sends = row.sends - 1;
      await move({ state: 'CLAIMED', sends });
    },
    finish: (result) => keepResult(key, { row, token, tokens }, result, own),
    release: async () => {
      if (row.sends === 0) await drop();
      else await move({ state: 'FREE' });
    },
    forget: drop,
  };
}

function noted(token: string, tokens: Set<string>): string {
  tokens.add(token);
  return token;
}

/**
 * Writes the result over whatever stands there without one, also where somebody else has taken the text over since:
 * that spares them the call. A row that is gone was erased, and stays so.
 */
async function keepResult(
  key: RowKey,
  mine: { readonly row: CacheRow; readonly token: string; readonly tokens: ReadonlySet<string> },
  result: Sentiment,
  options: ScoreCacheOptions,
): Promise<{ readonly kept: Sentiment; readonly sends: number }> {
  let { row, token } = mine;
  for (let race = 0; race < MOST_RACES; race += 1) {
    const paidAgain = Math.max(0, row.sends - 1);
    const scored: CacheRow = { ...row, state: 'SCORED', paidAgain, result: printJson(result) };
    const write = await writeCacheRow({ key, row: scored, expected: token }, options);
    if (write.kind === 'stored') return { kept: result, sends: row.sends };
    if (write.current === undefined) return { kept: result, sends: row.sends };
    row = parseCacheRow(write.current);
    token = write.current.token;
    if (row.state === 'SCORED')
      return { kept: parseResult(row), sends: mine.tokens.has(token) ? row.sends : 0 };
  }
  throw new Error(`${key.partition}: others were faster ${MOST_RACES} times in a row`);
}

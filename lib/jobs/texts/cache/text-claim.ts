import { printJson } from '../../../base/index.ts';
import type { Sentiment } from '../../../platform/index.ts';
import type { RowKey, StoredRow } from '../../../table/index.ts';
import {
  type CacheRow,
  callsOf,
  isHeld,
  parseCacheRow,
  parseResult,
  type RowWriting,
  textHashOf,
  type Written,
  writeCacheRow,
} from './cache-row.ts';

/*
 * A text's row, as its claim changes it:
 *
 *   none or FREE, or SENT with a lease that has ended -(send)-> SENT -(finish)-> SCORED
 *   SENT -(release: sends that may have been executed)-> FREE, which counts them -(forget: they are recorded)-> none
 *   SENT -(takeBack: the last send was certainly not executed)-> FREE, or none if there is no other
 *
 * Each write is over the row that was seen last. SCORED is final; only what erases a text deletes it.
 */

export type ClaimOptions = RowWriting & {
  /** Who holds the claims, for people to read: a request id or a process. */
  readonly owner: string;
  /**
   * How long one attempt may take, in milliseconds: the platform's time limit. A claim keeps others away for longer than
   * that, and each send renews it.
   */
  readonly attemptMs: number;
  /** How much longer than that a claim lasts. Default: 30 s. */
  readonly spareMs?: number | undefined;
};

/** A text, and its row as it was last seen: `stored` is undefined if it has none. */
export type Seen = {
  readonly key: RowKey;
  readonly text: string;
  /** The job that will count the sends. */
  readonly payer: string | undefined;
  readonly stored: StoredRow | undefined;
};

/** A text that this worker need not, or must not, send. */
export type Taken =
  /** `calls`: those that this payer spent on it; 0 if another job paid. */
  | { readonly kind: 'scored'; readonly result: Sentiment; readonly calls: number }
  /** Another worker is scoring it, and holds it until then: epoch milliseconds. */
  | { readonly kind: 'held'; readonly untilMs: number };

/**
 * The right to score a text. It is taken by the write that records the first send, shortly before the call's slot: a text
 * that waits for its turn has cost no write. Failures of the table are thrown as `TableError`.
 */
export type TextClaim = {
  /** Sends that may have been executed without a result being stored, including those of earlier holders. */
  readonly sends: () => number;
  /**
   * Takes the text, or renews the lease, and records that a send is about to leave: one write. If it returns anything
   * but `sent`, nothing may be sent.
   */
  send(): Promise<Taken | { readonly kind: 'sent' }>;
  /** Records that the last send was certainly not executed, and frees the text; `send` may take it again. */
  takeBack(): Promise<void>;
  /** Whether the lease outlasts an attempt: otherwise another worker may take the text over, and nothing may be sent. */
  isHeld(): boolean;
  /**
   * Stores the result. `stored` is the one in the cache afterwards, and `sends` the calls that it took: 0 if another
   * worker was faster, since that worker counts them.
   */
  finish(result: Sentiment): Promise<{ readonly stored: Sentiment; readonly sends: number }>;
  /** Frees the text, with the number of sends without a result: the next holder counts them. */
  release(): Promise<void>;
  /** Deletes what a release left: its sends have been counted. */
  forget(): Promise<void>;
};

/** How often in a row other writers may be faster before a claim gives up; each of them changed the row. */
const MOST_RACES = 50;

/** For writing the claim, waiting for the slot, and storing the result. */
const SPARE_MS = 30_000;

export function createTextClaim(seen: Seen, options: ClaimOptions): TextClaim {
  const { key, payer } = seen;
  const { now } = options;
  const own = createOwnRow(seen, options);
  const takeBack = () => own.free(own.row().sends - 1);
  return {
    sends: () => (own.isOwn() ? own.row().sends : 0),
    async send() {
      for (let race = 0; race < MOST_RACES; race += 1) {
        const written = await own.write({ state: 'SENT', sends: own.row().sends + 1 });
        if (written.kind === 'stored') {
          if (own.isHeld()) return { kind: 'sent' };
          // The write took so long that another worker could take the text over before the attempt ends.
          await takeBack();
          return { kind: 'held', untilMs: now() };
        }
        const found = own.adopt(written.current);
        if (found?.state === 'SCORED')
          return { kind: 'scored', result: parseResult(found), calls: callsOf(found, payer) };
        if (found && isHeld(found, now())) return { kind: 'held', untilMs: found.leaseEndsMs };
      }
      throw tooManyRaces(key);
    },
    takeBack,
    isHeld: own.isHeld,
    finish: (result) => storeResult(result, own.claimed(), own.writing),
    async release() {
      await own.settle();
      if (own.isOwn() && own.row().state === 'SENT') await own.free(own.row().sends);
    },
    async forget() {
      if (own.isOwn()) await own.free(0);
    },
  };
}

/** The row of a text as one claim writes it, and whether it is the claim's. */
function createOwnRow(seen: Seen, options: ClaimOptions) {
  const { key } = seen;
  const { table, now, attemptMs, spareMs = SPARE_MS } = options;
  let row = openRow(seen, options);
  let token = seen.stored?.token ?? null;
  /** Whether the row is this claim's: held, or freed by it. A write that threw leaves that unknown. */
  let isOwn: boolean | undefined = false;
  // A write that threw may have been made all the same: then the row has its token.
  const tokens = new Set<string>();
  const writing = { ...options, newToken: () => recorded(options.newToken(), tokens) };
  const write = async (changes: Partial<CacheRow>): Promise<Written> => {
    const next = { ...row, leaseEndsMs: now() + attemptMs + spareMs, ...changes };
    isOwn = undefined;
    let written = await writeCacheRow({ key, row: next, expected: token }, writing);
    const expected = written.kind === 'other' ? (written.current?.token ?? null) : null;
    if (expected !== null && tokens.has(expected))
      written = await writeCacheRow({ key, row: next, expected }, writing);
    isOwn = written.kind === 'stored';
    if (written.kind === 'stored') [row, token] = [next, written.token];
    return written;
  };
  return {
    writing,
    row: () => row,
    isOwn: () => isOwn === true,
    /** Whether the claim outlasts an attempt that starts now. */
    isHeld: () => isOwn === true && now() + attemptMs <= row.leaseEndsMs,
    claimed: (): Claimed => ({ key, row, token, tokens }),
    write,
    /** Frees the row, with so many sends; without any, it is deleted. */
    async free(sends: number) {
      if (sends > 0) return void (await write({ state: 'FREE', sends }));
      if (token !== null) await table.delete(key, token);
      [row, token] = [{ ...row, state: 'FREE', sends }, null];
    },
    /** Goes on from what another writer stored, and returns it. */
    adopt(stored: StoredRow | undefined): CacheRow | undefined {
      token = stored?.token ?? null;
      if (stored !== undefined) row = openRow({ ...seen, stored }, options);
      return stored && parseCacheRow(stored);
    },
    /** Finds out what happened to a write that threw. If it was made, what it announced did not happen. */
    async settle() {
      if (isOwn !== undefined) return;
      const stored = await table.get(key);
      isOwn = false;
      if (stored === undefined || !tokens.has(stored.token)) return;
      [isOwn, row, token] = [true, { ...row, state: 'SENT' }, stored.token];
    },
  };
}

function recorded(token: string, tokens: Set<string>): string {
  tokens.add(token);
  return token;
}

/** A claim's row as it was last seen, and the tokens of its writes. */
type Claimed = {
  readonly key: RowKey;
  readonly row: CacheRow;
  readonly token: string | null;
  readonly tokens: ReadonlySet<string>;
};

/**
 * Writes the result over any row that has none, even if another worker has taken the text over since: that saves
 * their call. A row that is gone was erased, and stays erased.
 */
async function storeResult(
  result: Sentiment,
  { key, tokens, ...seen }: Claimed,
  writing: RowWriting,
): Promise<{ readonly stored: Sentiment; readonly sends: number }> {
  let { row, token } = seen;
  for (let race = 0; race < MOST_RACES; race += 1) {
    const { sends } = row;
    const paidAgain = Math.max(0, sends - 1);
    const scored: CacheRow = { ...row, state: 'SCORED', paidAgain, result: printJson(result) };
    const written = await writeCacheRow({ key, row: scored, expected: token }, writing);
    if (written.kind === 'stored' || written.current === undefined) return { stored: result, sends };
    ({ token } = written.current);
    row = parseCacheRow(written.current);
    if (row.state === 'SCORED') return { stored: parseResult(row), sends: tokens.has(token) ? row.sends : 0 };
  }
  throw tooManyRaces(key);
}

/** The row as this worker will write it when it takes the text, apart from state and lease. */
function openRow({ text, payer, stored }: Seen, { owner }: ClaimOptions): CacheRow {
  const sends = stored === undefined ? 0 : parseCacheRow(stored).sends;
  const ours = { textHash: textHashOf(text), owner, ...(payer === undefined ? {} : { payer }) };
  return { state: 'FREE', ...ours, leaseEndsMs: 0, sends, paidAgain: 0 };
}

const tooManyRaces = ({ partition }: RowKey) =>
  new Error(`${partition}: other workers were faster ${MOST_RACES} times in a row`);

import { printJson } from '../../../base/index.ts';
import type { Sentiment } from '../../../platform/records.ts';
import type { RowKey } from '../../../table/index.ts';
import { type CacheRow, callsOf, isHeld, parseCacheRow, parseResult, writeCacheRow } from './cache-row.ts';
import { type ClaimOptions, createOwnRow, type Mine, type Seen } from './own-row.ts';

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

export function createTextClaim(seen: Seen, options: ClaimOptions): TextClaim {
  const { key, payer } = seen;
  const { now } = options;
  const row = createOwnRow(seen, options);
  const takeBack = () => row.free(row.current().sends - 1);
  return {
    sends: () => (row.isOwn() ? row.current().sends : 0),
    async send() {
      for (let race = 0; race < MOST_RACES; race += 1) {
        const written = await row.write({ state: 'SENT', sends: row.current().sends + 1 });
        if (written.kind === 'stored') {
          if (row.isHeld()) return { kind: 'sent' };
          // The write took so long that another worker could take the text over before the attempt ends.
          await takeBack();
          return { kind: 'held', untilMs: now() };
        }
        const found = row.adopt(written.current);
        if (found?.state === 'SCORED')
          return { kind: 'scored', result: parseResult(found), calls: callsOf(found, payer) };
        if (found && isHeld(found, now())) return { kind: 'held', untilMs: found.leaseEndsMs };
      }
      throw tooManyRaces(key);
    },
    takeBack,
    isHeld: row.isHeld,
    finish: (result) => storeResult(key, row.mine(), result, row.writing),
    async release() {
      await row.settle();
      if (row.isOwn() && row.current().state === 'SENT') await row.free(row.current().sends);
    },
    async forget() {
      if (row.isOwn()) await row.free(0);
    },
  };
}

/**
 * Writes the result over any row that has none, even if another worker has taken the text over since: that saves
 * their call. A row that is gone was erased, and stays erased.
 */
async function storeResult(
  key: RowKey,
  mine: Mine,
  result: Sentiment,
  options: ClaimOptions,
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
  throw tooManyRaces(key);
}

const tooManyRaces = ({ partition }: RowKey) =>
  new Error(`${partition}: other workers were faster ${MOST_RACES} times in a row`);

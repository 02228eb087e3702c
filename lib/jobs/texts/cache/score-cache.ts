import { printJson } from '../../../base/index.ts';
import type { Sentiment, SentimentRequest } from '../../../platform/index.ts';
import type { RowKey, StoredRow } from '../../../table/index.ts';
import { type BatchStorage, RETENTION_MS } from '../batch/batch.ts';
import { type CacheRow, cacheKey, parseCacheRow, standingOf, type Taken, textHashOf } from './cache-row.ts';

/*
 * A text's row, as its claim changes it:
 *
 *   none or FREE, or SENT with a lease that has ended -(send)-> SENT -(finish)-> SCORED
 *   SENT -(release: sends that may have been executed)-> FREE, which counts them -(forget: they are recorded)-> none
 *   SENT -(takeBack: the last send was certainly not executed)-> FREE, or none if there is no other
 *
 * Each write is over the row that was seen last. SCORED is final; only what erases a text deletes it. A write that threw
 * may have been made all the same: what it holds is free once its lease has ended.
 */

export type ScoreCacheOptions = Pick<BatchStorage, 'table' | 'newToken' | 'now'> & {
  /** The platform's host: the same text on two platforms is scored twice. */
  readonly host: string;
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

/** The results of all texts and requests, shared by all workers: the first to claim a text pays for it. */
export type ScoreCache = {
  /**
   * What is known of a text, by one read that claims nothing: its result, or that another worker has it, or a claim
   * that can be made. `payer` names the job that the text belongs to: a result that the same job paid for in an earlier
   * try is returned with the calls it took.
   */
  look(
    request: SentimentRequest,
    payer?: string,
  ): Promise<Taken | { readonly kind: 'open'; readonly claim: TextClaim }>;
  /** The result, if there is one. */
  find(request: SentimentRequest): Promise<Sentiment | undefined>;
};

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
   * Stores the result over any row that has none, even if another worker has taken the text over since: that saves their
   * call. `stored` is the one in the cache afterwards, and `sends` the calls that it took: 0 if another worker was
   * faster, since that worker counts them. A row that is gone was erased, and stays erased.
   */
  finish(result: Sentiment): Promise<{ readonly stored: Sentiment; readonly sends: number }>;
  /** Frees the text, with the number of sends without a result: the next holder counts them. */
  release(): Promise<void>;
  /** Deletes what a release left: its sends have been counted. */
  forget(): Promise<void>;
};

export function createScoreCache(options: ScoreCacheOptions): ScoreCache {
  const { table, host, now } = options;
  const look: ScoreCache['look'] = async (request, payer) => {
    const key = cacheKey(host, request);
    const stored = await table.get(key);
    const standing = standingOf(stored && parseCacheRow(stored), payer, now());
    if (standing.kind !== 'open') return standing;
    return { kind: 'open', claim: createTextClaim({ key, text: request.text, payer, stored }, options) };
  };
  return {
    look,
    async find(request) {
      const looked = await look(request);
      return looked.kind === 'scored' ? looked.result : undefined;
    },
  };
}

/** A text, and its row as it was last seen: `stored` is undefined if it has none. */
type Seen = {
  readonly key: RowKey;
  readonly text: string;
  /** The job that will count the sends. */
  readonly payer: string | undefined;
  readonly stored: StoredRow | undefined;
};

/** For writing the claim, waiting for the slot, and storing the result. */
const SPARE_MS = 30_000;

function createTextClaim(seen: Seen, options: ScoreCacheOptions): TextClaim {
  const { payer } = seen;
  const { now, newToken, attemptMs } = options;
  const own = createOwnRow(seen, options);
  // One for all tries: the row shows which of them was made, if a response was lost.
  const resultToken = newToken();
  const takeBack = () => own.free(own.row().sends - 1);
  const isHeld = () => own.isOwn() && now() + attemptMs <= own.row().leaseEndsMs;
  return {
    sends: () => (own.isOwn() ? own.row().sends : 0),
    async send() {
      for (;;) {
        await own.write({ state: 'SENT', sends: own.row().sends + 1 });
        if (isHeld()) return { kind: 'sent' };
        if (own.isOwn()) {
          // The write took so long that another worker could take the text over before the attempt ends.
          await takeBack();
          return { kind: 'held', untilMs: now() };
        }
        const standing = standingOf(own.isGone() ? undefined : own.row(), payer, now());
        if (standing.kind !== 'open') return standing;
      }
    },
    takeBack,
    isHeld,
    async finish(result) {
      for (;;) {
        await own.write({ state: 'SCORED', result: printJson(result) }, resultToken);
        if (own.isOwn() || own.isGone()) return { stored: result, sends: own.row().sends };
        const standing = standingOf(own.row(), undefined, now());
        if (standing.kind === 'scored') return { stored: standing.result, sends: 0 };
      }
    },
    async release() {
      if (own.isOwn() && own.row().state === 'SENT') await own.free(own.row().sends);
    },
    async forget() {
      if (own.isOwn()) await own.free(0);
    },
  };
}

/** The row of a text as it was last seen or written, and whether this claim wrote it. */
function createOwnRow({ key, text, payer, stored }: Seen, options: ScoreCacheOptions) {
  const { table, now, newToken, owner, attemptMs, spareMs = SPARE_MS } = options;
  const ours = { textHash: textHashOf(text), owner, ...(payer === undefined ? {} : { payer }) };
  let row: CacheRow =
    stored === undefined ? { ...ours, state: 'FREE', leaseEndsMs: 0, sends: 0 } : parseCacheRow(stored);
  let token = stored?.token ?? null;
  let isOwn = false;
  const write = async (changes: Pick<CacheRow, 'state'> & Partial<CacheRow>, newest = newToken()) => {
    const leaseEndsMs = now() + attemptMs + spareMs;
    const next: CacheRow = { ...ours, leaseEndsMs, sends: row.sends, ...changes };
    const expiresAtMs = now() + RETENTION_MS;
    const put = await table.put(key, next, { expected: token, token: newest, expiresAtMs });
    const current = put.kind === 'stored' ? { row: next, token: newest } : put.current;
    isOwn = current?.token === newest;
    token = current?.token ?? null;
    if (current !== undefined) row = parseCacheRow(current);
  };
  return {
    row: () => row,
    isOwn: () => isOwn,
    /** Whether there is none: nobody wrote it, or it was deleted. */
    isGone: () => token === null,
    write,
    /** Frees the row, with so many sends; without any, it is deleted. */
    async free(sends: number) {
      if (sends > 0) return write({ state: 'FREE', sends });
      if (token !== null) await table.delete(key, token);
      [row, token] = [{ ...row, state: 'FREE', sends: 0 }, null];
    },
  };
}

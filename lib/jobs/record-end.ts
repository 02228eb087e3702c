import type { Logger } from 'pino';
import * as z from 'zod/mini';
import { isOfDisk } from '../base/aws/index.ts';
import { backoffMs, messageOf, once } from '../base/index.ts';
import { findStored, keySegment, MAX_LIST_BYTES, type Store, StoredObjectError } from '../store/index.ts';
import { type Claim, type Outcome, outcomeSchema, type RunOutcome } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { EndAnswer, SentBy } from './ledger/transitions.ts';
import { stagedOutcome } from './result.ts';
import type { JobClock } from './turn.ts';

type RecordParts = Omit<PersistOptions, 'onTrouble'> & {
  readonly ledger: Pick<Ledger, 'end'>;
  readonly store: Store;
  readonly logger: Logger;
};

/**
 * Records how a job ended, until the time is over: what came back is paid for. After the first failure, or if the ledger is
 * slow, the outcome is staged in the store besides: whoever takes the job over finds it there (`findLateOutcome`). Throws if
 * the ledger could not be reached until the end; the message must not be acknowledged then.
 */
export async function recordEnd(claim: Claim, given: RunOutcome, parts: RecordParts): Promise<EndAnswer> {
  const outcome = withShortError(given);
  const { ledger, store, logger } = parts;
  const { id } = claim;
  const held = once(() => stagedOutcome(store, claim, outcome));
  let staging: Promise<void> | undefined;
  const stage = async () => {
    try {
      await persist(async () => stageLateOutcome(store, claim, await held()), parts);
      logger.info({ job: id }, 'outcome staged in the store');
    } catch (err) {
      logger.error({ job: id, err }, 'outcome not staged');
    }
  };
  try {
    const answer = await persist(async () => ledger.end(claim, await held()), {
      ...parts,
      onTrouble(err) {
        logger.warn({ job: id, err }, 'outcome not recorded yet');
        staging ??= stage();
      },
    });
    if (answer.kind === 'called-unknown')
      await persist(async () => stageLateOutcome(store, claim, await held()), parts);
    return answer;
  } catch (error) {
    await staging;
    throw error;
  }
}

/** A row of the ledger has room for the text of an error, whoever threw it. */
const withShortError = ({ error, ...outcome }: RunOutcome): RunOutcome =>
  error === undefined ? outcome : { ...outcome, error: { ...error, message: messageOf(error.message) } };

const lateKey = ({ id, createdAt, fence }: SentBy) =>
  `work/outcomes/${keySegment(id)}/late-${createdAt}-${fence}.json`;

/** The bytes are the same each time. */
export async function stageLateOutcome(store: Store, sent: SentBy, outcome: Outcome): Promise<void> {
  const body = Buffer.from(`${JSON.stringify({ version: 1, outcome })}\n`);
  await store.put(lateKey(sent), body, { contentType: 'application/json' });
}

/** The staged outcome of a send; undefined if there is none, or something else is there. */
export async function findLateOutcome(store: Store, sent: SentBy): Promise<Outcome | undefined> {
  try {
    return (await findStored(store, lateKey(sent), lateSchema, MAX_LIST_BYTES))?.value.outcome;
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

const lateSchema = z.object({ version: z.literal(1), outcome: outcomeSchema });

export type PersistOptions = JobClock & {
  /** Until when it is tried, in epoch milliseconds; asked again before each wait. */
  readonly untilMs: () => number;
  /** Called after each try that failed, and while one takes long: with what went wrong. */
  readonly onTrouble?: (error: unknown) => void;
};

class OutOfTimeError extends Error {
  override readonly name = 'OutOfTimeError';
}

/** Waits between tries. The longest bounds how long after the end of an outage the work is done. */
const BACKOFF = { baseDelayMs: 400, maxDelayMs: 5_000 };

/** A try that takes longer than this is trouble: a service that does not respond is as good as one that is away. */
const SLOW_MS = 2_000;

/** Does something, at least once, until it succeeds, the disk fails or the time is over; `work` may be done twice. */
export async function persist<T>(work: () => Promise<T>, options: PersistOptions): Promise<T> {
  const { untilMs, onTrouble, now, sleep, random } = options;
  for (let retry = 1; ; retry += 1) {
    try {
      return await inTime(work(), options);
    } catch (error) {
      if (error instanceof OutOfTimeError) throw error;
      onTrouble?.(error);
      if (isOfDisk(error)) throw error;
      const waitMs = backoffMs(retry, random(), BACKOFF);
      if (now() + waitMs >= untilMs()) throw error;
      await sleep(waitMs);
    }
  }
}

/** Without a reason an abort makes an error, with its stack. */
const SETTLED = 'settled';

/** Waits for a try, but not beyond the time: one that hangs must not keep an invocation from responding. */
async function inTime<T>(trying: Promise<T>, options: PersistOptions): Promise<T> {
  const { untilMs, onTrouble, now, sleep } = options;
  const settled = new AbortController();
  const tried = trying.finally(() => settled.abort(SETTLED));
  const watch = async (): Promise<never> => {
    for (;;) {
      await sleep(Math.max(0, Math.min(SLOW_MS, untilMs() - now())), settled.signal);
      const error = new OutOfTimeError(`no response after ${SLOW_MS} ms or more`);
      onTrouble?.(error);
      if (now() >= untilMs()) throw error;
    }
  };
  // Once the try has settled, the watch ends with an abort that nobody waits for.
  return Promise.race([
    tried,
    watch().catch((error: unknown) => (settled.signal.aborted ? tried : Promise.reject(error))),
  ]);
}

import type { Logger } from 'pino';
import * as z from 'zod/mini';
import { isOfDisk } from '../base/aws/index.ts';
import { messageOf, once, retryUntil } from '../base/index.ts';
import { findStored, keySegment, MAX_LIST_BYTES, type Store, StoredObjectError } from '../store/index.ts';
import { type Claim, type Outcome, outcomeSchema, type RunOutcome } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { SentBy } from './ledger/transitions.ts';
import { stagedOutcome } from './result.ts';
import type { JobClock } from './send-context.ts';

/**
 * How the write of an outcome is retried, until time is up: after every error except a failure of the disk. An
 * attempt that takes over 2 s is reported as slow.
 */
export const WRITE_RETRIES = { slowMs: 2_000, mayPass: (error: unknown): boolean => !isOfDisk(error) };

/**
 * Stores how a job ended, and retries until time is up, since the outcome was paid for. After the first
 * failure, or if the ledger is slow, the outcome is also staged in the store, where the next worker of the
 * job finds it (`findLateOutcome`). Throws if the ledger could not be written in time: the message must then not
 * be acknowledged.
 */
export async function recordEnd(
  claim: Claim,
  fullOutcome: RunOutcome,
  parts: JobClock & {
    /** When to give up, in epoch milliseconds. Called before each wait, since the deadline may change. */
    readonly untilMs: () => number;
    readonly ledger: Pick<Ledger, 'end'>;
    readonly store: Store;
    readonly logger: Logger;
  },
): Promise<Awaited<ReturnType<Ledger['end']>>> {
  const outcome = withShortError(fullOutcome);
  const { ledger, store, logger } = parts;
  const { id } = claim;
  const writing = { ...parts, ...WRITE_RETRIES };
  const toStore = once(() => stagedOutcome(store, claim, outcome));
  const stageLate = () => retryUntil(async () => stageLateOutcome(store, claim, await toStore()), writing);
  let staging: Promise<void> | undefined;
  const stage = async () => {
    try {
      await stageLate();
      logger.info({ job: id }, 'outcome staged in the store');
    } catch (err) {
      logger.error({ job: id, err }, 'outcome not staged');
    }
  };
  try {
    const answer = await retryUntil(async () => ledger.end(claim, await toStore()), {
      ...writing,
      onTrouble(err) {
        logger.warn({ job: id, err }, 'outcome not recorded yet');
        staging ??= stage();
      },
    });
    // Another worker ended this job as unknown: the redelivered message finds the staged outcome.
    if (answer.kind === 'called-unknown') await stageLate();
    return answer;
  } catch (error) {
    await staging;
    throw error;
  }
}

/** The outcome with its error's message shortened to fit into a row of the ledger. */
const withShortError = ({ error, ...outcome }: RunOutcome): RunOutcome =>
  error === undefined ? outcome : { ...outcome, error: { ...error, message: messageOf(error.message) } };

const lateKey = ({ id, createdAt, fence }: SentBy) =>
  `work/outcomes/${keySegment(id)}/late-${createdAt}-${fence}.json`;

/** Stores the outcome of a send outside the ledger. A repeat writes the same bytes. */
export async function stageLateOutcome(store: Store, sent: SentBy, outcome: Outcome): Promise<void> {
  const body = Buffer.from(`${JSON.stringify({ version: 1, outcome })}\n`);
  await store.put(lateKey(sent), body, { contentType: 'application/json' });
}

/** Reads the staged outcome of a send; undefined if it is missing or invalid. */
export async function findLateOutcome(store: Store, sent: SentBy): Promise<Outcome | undefined> {
  try {
    return (await findStored(store, lateKey(sent), lateSchema, MAX_LIST_BYTES))?.value.outcome;
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

const lateSchema = z.object({ version: z.literal(1), outcome: outcomeSchema });

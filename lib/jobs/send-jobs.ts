import { AwsError, isPassing } from '../base/aws/index.ts';
import { sleep as realSleep } from '../base/index.ts';
import { sqlitePath } from '../locations.ts';
import { type Environment, needed, readSyncSettings } from '../settings.ts';
import { createLedgerCheck } from './ledger-check.ts';
import { openQueue } from './queue/open-queue.ts';
import { batchesOf, type Queue, queueWaitMs, UnsentError, type UnsentMessage } from './queue/queue.ts';

type SendOptions = {
  readonly queue: Pick<Queue, 'send'>;
  /** Aborting it ends the wait for an unavailable queue, and no further batch is sent. */
  readonly signal: AbortSignal;
  /** Called once for each batch that meets an outage of the queue. */
  readonly onUnavailable?: ((error: Error) => void) | undefined;
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** A clock in milliseconds. */
  readonly now?: (() => number) | undefined;
  /** Returns numbers from 0 up to 1. */
  readonly random?: (() => number) | undefined;
};

/**
 * Checks the ledger before jobs are put on the queue. A ledger in AWS is checked by the worker instead, so
 * that users who may only submit need no permission to read it.
 */
async function checkLedger(environment: Environment): Promise<void> {
  const { SYNC_TABLE: table } = readSyncSettings(environment);
  if (table !== undefined && sqlitePath(table) !== undefined) await createLedgerCheck(table, environment)();
}

/** Checks that the ledger belongs to the store, and then sends jobs to the configured queue, as `sendJobs` does. */
export async function submitJobs(
  jobs: Parameters<typeof sendJobs>[0],
  parts: Pick<SendOptions, 'signal' | 'onUnavailable'> & { readonly environment: Environment },
) {
  const { environment, ...options } = parts;
  const queue = await openQueue(needed(readSyncSettings(environment), 'SYNC_QUEUE_URL'), environment);
  await checkLedger(environment);
  return sendJobs(jobs, { queue, ...options });
}

/** Sending is given up after the queue has accepted no message for this long, in milliseconds. */
const MAX_OUTAGE_MS = 300_000;

/**
 * Sends jobs in batches. A job that cannot be sent does not stop the rest. During an outage of the queue, unsent jobs
 * are sent again for five minutes; a job runs only once, because of its id. Sending ends immediately if the queue
 * cannot be used at all. It also ends if the queue was never reached, since its address is most likely wrong. `ids`:
 * the jobs that are certainly on the queue. `notSent`: all other jobs. `error`: what stopped the sending, or an
 * `UnsentError` about all jobs that were not sent; undefined if all were sent.
 */
export async function sendJobs(
  jobs: readonly { readonly id: string; readonly body: string }[],
  options: SendOptions,
) {
  const { signal } = options;
  const unsent = new Map<number, UnsentMessage>();
  const send = createSender(jobs, unsent, options);
  let tried = 0;
  let last: UnsentError | undefined;
  let stopped: unknown;
  try {
    for (const { length } of batchesOf(jobs.map(({ body }) => body))) {
      signal.throwIfAborted();
      const result = await send(tried, length);
      tried += length;
      last = result.last ?? last;
      if (result.isUnavailable || result.last?.isOfQueue) break;
    }
    if (unsent.size > 0) signal.throwIfAborted();
  } catch (error) {
    stopped = error;
  }
  for (let index = tried; index < jobs.length; index += 1)
    unsent.set(index, { index, cause: last?.cause, mayBeSent: false });
  const idsWhere = (isSent: boolean) =>
    jobs.flatMap(({ id }, index) => (unsent.has(index) === isSent ? [] : [id]));
  const [first, ...others] = unsent.values();
  const error = stopped ?? (first && new UnsentError(last?.queue ?? '', jobs.length, [first, ...others]));
  return { ids: idsWhere(true), notSent: idsWhere(false), error };
}

/**
 * Creates the function that sends jobs. It adds jobs that cannot be sent to `unsent`. The function rethrows any error
 * but an `UnsentError`.
 */
function createSender(
  jobs: readonly { readonly body: string }[],
  unsent: Map<number, UnsentMessage>,
  { queue, signal, onUnavailable, sleep = realSleep, now = Date.now, random = Math.random }: SendOptions,
) {
  let acceptedMs: number | undefined;
  return async (from: number, count: number) => {
    const startedMs = now();
    let left = Array.from({ length: count }, (_, at) => from + at);
    for (let tries = 1; ; tries += 1) {
      const last = await unsentErrorOf(queue.send(left.map((index) => jobs[index]?.body ?? '')));
      const failed = (last?.unsent ?? []).map((each) => ({ ...each, index: left[each.index] ?? from }));
      if (failed.length < left.length) acceptedMs = now();
      for (const each of failed) unsent.set(each.index, each);
      const waiting = failed.filter(isUnavailable);
      if (last === undefined || waiting.length === 0) return { last, isUnavailable: false };
      const mayWait = (acceptedMs !== undefined || !waiting.some(isUnreached)) && !signal.aborted;
      if (!mayWait || now() - (acceptedMs ?? startedMs) >= MAX_OUTAGE_MS)
        return { last, isUnavailable: true };
      if (tries === 1) onUnavailable?.(last);
      left = waiting.map(({ index }) => index);
      await sleep(queueWaitMs(tries, random()), signal).catch(() => undefined);
      for (const index of left) unsent.delete(index);
    }
  };
}

const isUnavailable = ({ cause }: UnsentMessage): boolean => isPassing(new AwsError('queue', 'send', cause));

/** Whether the queue could not be reached for a message. */
const isUnreached = ({ cause }: UnsentMessage): boolean =>
  new AwsError('queue', 'send', cause).failure.kind === 'unreachable';

/** The `UnsentError` that sending threw; undefined if all messages were sent. Rethrows any other error. */
const unsentErrorOf = (sent: Promise<void>): Promise<UnsentError | undefined> =>
  sent.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof UnsentError) return error;
      throw error;
    },
  );

import { AwsError, sleep as realSleep } from '../../base/index.ts';
import { batchesOf, type Queue, UnsentError, type UnsentMessage } from '../../jobs/queue/queue.ts';
import { isServiceAway, queueWaitMs } from '../../jobs/service-away.ts';

export type SendOptions = {
  readonly queue: Pick<Queue, 'send'>;
  /** Ends the waits, and no further batch is sent. */
  readonly signal: AbortSignal;
  /** Called once for each batch that meets an outage of the queue. */
  readonly onAway?: ((error: Error) => void) | undefined;
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** Milliseconds. */
  readonly now?: (() => number) | undefined;
  /** From 0 up to 1. */
  readonly random?: (() => number) | undefined;
};

/** The ids of the jobs that are certainly on the queue, of the others, and why not all are: undefined if they are. */
type SentJobs = {
  readonly ids: readonly string[];
  readonly notSent: readonly string[];
  readonly error: unknown;
};

/** How long a queue that accepted messages, or is at its limit, may accept none before the rest is given up. */
const PATIENCE_MS = 300_000;

/**
 * Sends jobs in batches. A job that cannot be sent stops no other; what is left unsent since the queue is away is sent
 * again for five minutes, as each job has an id by which it runs only once; a queue that cannot be used at all, or was
 * never reached, ends it: its address is most likely wrong. The error is the reason of a stop, or an `UnsentError` about
 * all jobs, those that were not tried included.
 */
export async function sendJobs(
  jobs: readonly { readonly id: string; readonly text: string }[],
  options: SendOptions,
): Promise<SentJobs> {
  const { signal } = options;
  const unsent: UnsentMessage[] = [];
  const send = createSender(jobs, unsent, options);
  let [tried, last]: [number, UnsentError | undefined] = [0, undefined];
  const result = (error: unknown): SentJobs => {
    const isNotSent = new Set(unsent.map(({ index }) => index));
    for (let index = tried; index < jobs.length; index += 1) isNotSent.add(index);
    const idsWhere = (isSent: boolean) =>
      jobs.flatMap(({ id }, index) => (isNotSent.has(index) === isSent ? [] : [id]));
    return { ids: idsWhere(true), notSent: idsWhere(false), error };
  };
  for (const { length } of batchesOf(jobs.map(({ text }) => text))) {
    if (signal.aborted) return result(signal.reason);
    const ended = await send(tried, length).catch((error: unknown) => ({ error }));
    if ('error' in ended) return result(ended.error);
    tried += length;
    last = ended.last ?? last;
    if (ended.isAway || ended.last?.isOfQueue) break;
  }
  if (signal.aborted && unsent.length > 0) return result(signal.reason);
  for (let index = tried; index < jobs.length; index += 1)
    unsent.push({ index, cause: last?.cause, mayBeSent: false });
  const [first, ...others] = unsent;
  return result(first && new UnsentError(last?.queue ?? '', jobs.length, [first, ...others]));
}

/** Sends so many jobs from one on, and adds those to `unsent` that cannot be. Throws what is not an `UnsentError`. */
function createSender(
  jobs: readonly { readonly text: string }[],
  unsent: UnsentMessage[],
  { queue, signal, onAway, sleep = realSleep, now = Date.now, random = Math.random }: SendOptions,
) {
  let acceptedMs: number | undefined;
  return async (from: number, count: number) => {
    const startedMs = now();
    let left = Array.from({ length: count }, (_, at) => from + at);
    for (let tries = 1; ; tries += 1) {
      const last = await unsentErrorOf(queue.send(left.map((index) => jobs[index]?.text ?? '')));
      const failed = (last?.unsent ?? []).map((each) => ({ ...each, index: left[each.index] ?? from }));
      if (failed.length < left.length) acceptedMs = now();
      const away = failed.filter(isAway);
      unsent.push(...failed.filter((each) => !isAway(each)));
      const mayWait = (acceptedMs !== undefined || !away.some(isUnreached)) && !signal.aborted;
      const isOver = now() - (acceptedMs ?? startedMs) >= PATIENCE_MS;
      if (last === undefined || away.length === 0) return { last, isAway: false };
      if (!mayWait || isOver) {
        unsent.push(...away);
        return { last, isAway: true };
      }
      if (tries === 1) onAway?.(last);
      left = away.map(({ index }) => index);
      await sleep(queueWaitMs(tries, random()), signal).catch(() => undefined);
    }
  };
}

const isAway = ({ cause }: UnsentMessage): boolean => isServiceAway(new AwsError('send', cause));

const isUnreached = ({ cause }: UnsentMessage): boolean =>
  new AwsError('send', cause).failure.kind === 'unreachable';

async function unsentErrorOf(sent: Promise<void>): Promise<UnsentError | undefined> {
  try {
    await sent;
    return undefined;
  } catch (error) {
    if (error instanceof UnsentError) return error;
    throw error;
  }
}

import { AwsError, sleep as realSleep } from '../../base/index.ts';
import { batchesOf } from '../../jobs/queue/message-batches.ts';
import type { Queue } from '../../jobs/queue/queue.ts';
import { UnsentError, type UnsentMessage } from '../../jobs/queue/unsent-error.ts';
import { isServiceAway, queueWaitMs } from '../../jobs/service-away.ts';

/** The ids of the jobs that are certainly on the queue, of the others, and why not all are: undefined if they are. */
type SentJobs = {
  readonly ids: readonly string[];
  readonly notSent: readonly string[];
  readonly error: unknown;
};

/**
 * Sends jobs in batches; no further one is sent once the signal is aborted, and the error is its reason. A job that
 * cannot be sent stops no other, and a queue that is away is tried again for a while; one that cannot be used at all
 * ends it. Then the error is an `UnsentError` about all jobs, those that were not tried included.
 */
export async function sendJobs(
  jobs: readonly { readonly id: string; readonly text: string }[],
  options: PatientSenderOptions,
): Promise<SentJobs> {
  const send = createPatientSender(options);
  const unsent: UnsentMessage[] = [];
  let tried = 0;
  let last: UnsentError | undefined;
  const result = (error: unknown): SentJobs => {
    const indices = new Set(unsent.map(({ index }) => index));
    const idsWhere = (isSent: boolean) =>
      jobs.flatMap(({ id }, index) => ((index < tried && !indices.has(index)) === isSent ? [id] : []));
    return { ids: idsWhere(true), notSent: idsWhere(false), error };
  };
  for (const batch of batchesOf(jobs.map(({ text }) => text))) {
    if (options.signal.aborted) return result(options.signal.reason);
    let left: LeftUnsent;
    try {
      left = await send(batch);
    } catch (error) {
      return result(error);
    }
    for (const each of left.unsent) unsent.push({ ...each, index: tried + each.index });
    tried += batch.length;
    last = left.error ?? last;
    if (left.isAway || left.error?.isOfQueue) break;
  }
  if (options.signal.aborted && unsent.length > 0) return result(options.signal.reason);
  for (let index = tried; index < jobs.length; index += 1)
    unsent.push({ index, cause: last?.cause, mayBeSent: false });
  const [first, ...others] = unsent;
  return result(first && new UnsentError(last?.queue ?? '', jobs.length, [first, ...others]));
}

export type PatientSenderOptions = {
  readonly queue: Pick<Queue, 'send'>;
  /** Ends the waits. */
  readonly signal: AbortSignal;
  /** Called once for each outage of the queue. */
  readonly onAway?: ((error: Error) => void) | undefined;
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** Milliseconds. */
  readonly now?: (() => number) | undefined;
  /** From 0 up to 1. */
  readonly random?: (() => number) | undefined;
};

/** What a batch left unsent. `isAway`: the queue did not respond until patience ended. */
type LeftUnsent = {
  readonly unsent: readonly UnsentMessage[];
  readonly error: UnsentError | undefined;
  readonly isAway: boolean;
};

/** How long a queue that accepted messages, or is at its limit, may accept none before the rest is given up. */
const PATIENCE_MS = 300_000;

/**
 * Sends batches of messages that name their jobs, so that to send one twice does no harm. What a batch leaves unsent
 * since the queue is away is sent again for five minutes. A queue that was never reached is not waited for: its address
 * is most likely wrong. Throws what is not an `UnsentError`.
 */
function createPatientSender(options: PatientSenderOptions) {
  const { queue, signal, onAway = () => undefined } = options;
  const { sleep = realSleep, now = Date.now, random = Math.random } = options;
  let acceptedMs: number | undefined;
  return async (batch: readonly string[]): Promise<LeftUnsent> => {
    const startedMs = now();
    const refused: UnsentMessage[] = [];
    let left = batch.map((body, index) => ({ body, index }));
    for (let tries = 1; ; tries += 1) {
      const error = await unsentErrorOf(queue.send(left.map(({ body }) => body)));
      const failed = placed(error?.unsent ?? [], left);
      if (failed.length < left.length) acceptedMs = now();
      const away = failed.filter(isAway);
      refused.push(...failed.filter((each) => !isAway(each)));
      const mayWait = (acceptedMs !== undefined || !away.some(isUnreached)) && !signal.aborted;
      const isOver = now() - (acceptedMs ?? startedMs) >= PATIENCE_MS;
      if (error === undefined || away.length === 0 || !mayWait || isOver)
        return { unsent: [...refused, ...away], error, isAway: away.length > 0 };
      if (tries === 1) onAway(error);
      left = away.flatMap(({ index }) => ({ body: batch[index] ?? '', index }));
      await sleep(queueWaitMs(tries, random()), signal).catch(() => undefined);
    }
  };
}

/** The messages that were not sent, numbered as in the batch. */
const placed = (
  unsent: readonly UnsentMessage[],
  left: readonly { readonly index: number }[],
): readonly UnsentMessage[] =>
  unsent.flatMap((each) => {
    const message = left[each.index];
    return message === undefined ? [] : [{ ...each, index: message.index }];
  });

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

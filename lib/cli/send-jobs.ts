import { batchesOf } from '../jobs/queue/message-batches.ts';
import type { Queue } from '../jobs/queue/queue.ts';
import { UnsentError, type UnsentMessage } from '../jobs/queue/unsent-error.ts';

/** The ids of the jobs that are certainly on the queue, in order, and why not all of them are: undefined if they are. */
type SentJobs = { readonly ids: readonly string[]; readonly error: unknown };

type SendJobsOptions = {
  readonly queue: Pick<Queue, 'send'>;
  /** No further batch is sent once it is aborted; the error is its reason. */
  readonly signal: AbortSignal;
};

/**
 * Sends jobs in batches. A job that cannot be sent stops no other; a queue that cannot be used at all ends it at once.
 * Then the error is an `UnsentError` about all jobs, those that were not tried included.
 */
export async function sendJobs(
  jobs: readonly { readonly id: string; readonly text: string }[],
  { queue, signal }: SendJobsOptions,
): Promise<SentJobs> {
  const unsent: UnsentMessage[] = [];
  let tried = 0;
  let last: UnsentError | undefined;
  const idsSent = () => {
    const indices = new Set(unsent.map(({ index }) => index));
    return jobs.slice(0, tried).flatMap(({ id }, index) => (indices.has(index) ? [] : [id]));
  };
  for (const batch of batchesOf(jobs.map(({ text }) => text))) {
    if (signal.aborted) return { ids: idsSent(), error: signal.reason };
    const error = await failureOf(queue.send(batch));
    if (error !== undefined && !(error instanceof UnsentError)) return { ids: idsSent(), error };
    for (const each of error?.unsent ?? []) unsent.push({ ...each, index: tried + each.index });
    tried += batch.length;
    last = error ?? last;
    if (error?.isOfQueue) break;
  }
  for (let index = tried; index < jobs.length; index += 1)
    unsent.push({ index, cause: last?.cause, mayBeSent: false });
  const [first, ...others] = unsent;
  const error = first && new UnsentError(last?.queue ?? '', jobs.length, [first, ...others]);
  return { ids: idsSent(), error };
}

const failureOf = (sent: Promise<void>): Promise<unknown> =>
  sent.then(
    () => undefined,
    (error: unknown) => error,
  );

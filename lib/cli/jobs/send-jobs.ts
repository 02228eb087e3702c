import { batchesOf } from '../../jobs/queue/message-batches.ts';
import { UnsentError, type UnsentMessage } from '../../jobs/queue/unsent-error.ts';
import { createPatientSender, type LeftUnsent, type PatientSenderOptions } from './patient-sender.ts';

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

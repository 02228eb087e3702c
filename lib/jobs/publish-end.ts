import { parseJson } from '../base/index.ts';
import { getBounded, keySegment, type Store } from '../store/index.ts';
import type { Outcome } from './ledger/job-row.ts';
import { withId } from './message/check-message.ts';
import { parseMessage } from './message/message.ts';
import { MOST_MESSAGE_BYTES } from './queue/queue.ts';
import { type TypedJobRow, writeResult } from './result.ts';
import type { BatchStorage } from './texts/batch/batch.ts';
import { definitionOf, type Job } from './types/job-types.ts';

/** Reported at least once for each job that ended. `result` is the key of its result. */
export type JobFinished = {
  readonly id: string;
  readonly type: string;
  readonly status: Outcome['status'];
  readonly result: string;
};

export const FAILED_FOLDER = 'work/failed/';
export const FAILED_SUFFIX = '.json';
export const failedKey = (id: string) => `${FAILED_FOLDER}${keySegment(id)}${FAILED_SUFFIX}`;

/** The message of a job that did not succeed, as it was stored; undefined if none was. */
export const findFailedMessage = async (store: Pick<Store, 'get'>, id: string): Promise<string | undefined> =>
  (await getBounded(store, failedKey(id), 2 * MOST_MESSAGE_BYTES))?.body.toString();

type PublishParts = {
  readonly store: Store;
  readonly batches: BatchStorage;
  /** Default: the end is not reported. */
  readonly reportFinished?: ((event: JobFinished) => Promise<void>) | undefined;
};

/** A message and the job that it asks for. */
type AskedJob = { readonly job: Job; readonly body: string };

/** The job of a stored message; undefined if it is none. */
export function askedJob(id: string, body: string | undefined): AskedJob | undefined {
  const parsed = body === undefined ? undefined : parseMessage(body, { messageId: id, allow: {} });
  return body !== undefined && parsed?.kind === 'job' ? { job: parsed.job, body } : undefined;
}

/**
 * Makes the end of a job visible: its result, the report, and as far as its message is known, that of one that did not
 * succeed and what its type adds. All of it is written from what the ledger holds, so it may be called again: it completes
 * what a killed process began. Returns the key of the result.
 */
export async function publishEnd(
  ended: TypedJobRow,
  asked: AskedJob | undefined,
  { store, batches, reportFinished }: PublishParts,
): Promise<string> {
  const { id, type, outcome } = ended;
  const result = await writeResult(store, ended);
  if (asked !== undefined) {
    if (outcome.status !== 'done') await storeFailedMessage(store, id, asked.body);
    await definitionOf(asked.job).afterEnd?.(asked.job, ended, { store, batches });
  }
  await reportFinished?.({ id, type, status: outcome.status, result });
  return result;
}

/** Stores the message of a job that did not succeed, with the job's id, so that the job can be reopened. */
async function storeFailedMessage(store: Store, id: string, body: string): Promise<void> {
  const hasId = Object.hasOwn(parseJson(body) as object, 'id');
  const message = hasId ? body : withId(body, id);
  await store.put(failedKey(id), Buffer.from(message), { contentType: 'application/json' });
}

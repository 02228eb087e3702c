import { parseJson, printJson } from '../json/json.ts';
import type { Store } from '../store/store.ts';
import type { EndedJobRow } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';

const FOLDER = 'work/failed/';
const keyOf = (id: string) => `${FOLDER}${id}.json`;

/**
 * Stores the message of a failed job, with the job's id, so that the job can be reopened. The bytes are the same each
 * time. A cancelled job stays cancelled, so its message is not stored.
 */
export async function storeFailedMessage(
  store: Store,
  { id, outcome }: Pick<EndedJobRow, 'id' | 'outcome'>,
  { body }: Pick<QueueMessage, 'body'>,
): Promise<void> {
  if (outcome.status !== 'failed' || outcome.error?.kind === 'cancelled') return;
  const message = printJson({ ...(parseJson(body) as object), id });
  await store.put(keyOf(id), Buffer.from(message), { contentType: 'application/json' });
}

export type RedriveParts = {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly queue: Pick<Queue, 'send'>;
  readonly signal?: AbortSignal | undefined;
};

/** The ids of the jobs that were reopened, and of those that were left as they are, with their states. */
export type Redriven = {
  readonly opened: readonly string[];
  readonly left: readonly { readonly id: string; readonly state: string }[];
};

/**
 * Reopens failed jobs, either all of them or those with the given ids: their messages go back to the queue. A job whose
 * outcome is unknown is never reopened. After a crash halfway through, the next redrive sends what was not sent.
 */
export async function redriveFailed(ids: readonly string[], parts: RedriveParts): Promise<Redriven> {
  const { store, ledger, queue, signal } = parts;
  const opened: string[] = [];
  const left: Redriven['left'][number][] = [];
  for (const id of ids.length > 0 ? ids : await failedIds(store)) {
    signal?.throwIfAborted();
    const stored = await store.get(keyOf(id));
    if (stored === undefined) {
      // Without its message, a reopened job would wait forever, and a cancelled one would run after all.
      left.push({ id, state: (await ledger.read(id))?.state ?? 'not known' });
      continue;
    }
    const answer = await ledger.reopen(id);
    const state = answer.row?.state ?? 'not known';
    // Sending a message again needlessly is only one more delivery, which does no harm. This completes a redrive that
    // died between the two steps.
    if (answer.kind === 'reopened' || state === 'CLAIMED') {
      await queue.send([stored.body.toString()]);
      opened.push(id);
    } else left.push({ id, state });
    // A job that is done never fails again. Every other message stays: its job may fail while this runs.
    if (state === 'DONE') await store.delete(keyOf(id));
  }
  return { opened, left };
}

async function failedIds(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { key } of store.list(FOLDER)) ids.push(key.slice(FOLDER.length, -'.json'.length));
  return ids;
}

/** How long a dead letter is hidden from other receivers while it is moved. */
const MOVE_SECONDS = 30;

/** Moves dead letters back to the queue, and returns how many. Each is sent before it is deleted. */
export async function moveDeadLetters(
  from: Queue,
  to: Pick<Queue, 'send'>,
  signal?: AbortSignal,
): Promise<number> {
  for (let moved = 0; ; ) {
    signal?.throwIfAborted();
    const messages = await from.receive({ most: 10, waitSeconds: 0, visibilitySeconds: MOVE_SECONDS });
    if (messages.length === 0) return moved;
    await to.send(messages.map(({ body }) => body));
    for (const { receipt } of messages) await from.delete(receipt);
    moved += messages.length;
  }
}

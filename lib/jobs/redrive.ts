import { parseJson, printJson } from '../json/json.ts';
import type { Store } from '../store/store.ts';
import type { EndedJobRow } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Queue, QueueMessage } from './queue/queue.ts';

const FOLDER = 'work/failed/';
const keyOf = (id: string) => `${FOLDER}${id}.json`;

/**
 * Keeps the message of a job that failed, with its id, so that it can be opened again. The same bytes each time. A job
 * that was cancelled stays so.
 */
export async function keepFailed(
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

/** Ids of the jobs that were opened again, and of those that were left as they are, with their state. */
export type Redriven = {
  readonly opened: readonly string[];
  readonly left: readonly { readonly id: string; readonly state: string }[];
};

/**
 * Opens failed jobs again, all or those with the ids given: their messages go back on the queue. A job whose outcome
 * is unknown is never among them. After a crash in the middle the next redrive sends what was not sent.
 */
export async function redriveFailed(ids: readonly string[], parts: RedriveParts): Promise<Redriven> {
  const { store, ledger, queue, signal } = parts;
  const opened: string[] = [];
  const left: Redriven['left'][number][] = [];
  for (const id of ids.length > 0 ? ids : await failedIds(store)) {
    signal?.throwIfAborted();
    const kept = await store.get(keyOf(id));
    if (kept === undefined) {
      // Without its message an opened job would wait for ever, and a cancelled one would run after all.
      left.push({ id, state: (await ledger.read(id))?.state ?? 'not known' });
      continue;
    }
    const answer = await ledger.reopen(id);
    const state = answer.row?.state ?? 'not known';
    // A message that is sent again without need is one more delivery, which does no harm: so a redrive that died
    // between the two is made good.
    if (answer.kind === 'reopened' || state === 'CLAIMED') {
      await queue.send([kept.body.toString()]);
      opened.push(id);
    } else left.push({ id, state });
    // A job that is done never fails again. Every other message stays: the job may fail while this is under way.
    if (state === 'DONE') await store.delete(keyOf(id));
  }
  return { opened, left };
}

async function failedIds(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { key } of store.list(FOLDER)) ids.push(key.slice(FOLDER.length, -'.json'.length));
  return ids;
}

/** How long a dead letter is nobody else's while it is moved. */
const MOVE_SECONDS = 30;

/** Moves dead letters back on the queue, and answers how many: each is sent before it is deleted. */
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

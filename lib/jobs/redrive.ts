import { AwsError } from '../base/aws/index.ts';
import { loadPeer } from '../base/index.ts';
import { parseJson, printJson } from '../base/json/index.ts';
import { lowerCase } from '../model/rules/index.ts';
import { type Environment, readSyncSettings } from '../settings.ts';
import { getBounded, idOfSegment, keySegment, type Store } from '../store/index.ts';
import { WAS_EXECUTED } from './job-advice.ts';
import { isCancelled, isSettled, type JobRow, wasExecuted } from './ledger/job-row.ts';
import { type Ledger, mayReopen } from './ledger/ledger.ts';
import { withId } from './message/check-message.ts';
import { parseMessage } from './message/message.ts';
import {
  createEmptyCheck,
  LONG_POLLS,
  MAX_MESSAGE_BYTES,
  type Polls,
  type Queue,
  type QueueMessage,
  total,
  UnsentError,
} from './queue/queue.ts';
import { type JobFinished, writeResult } from './result.ts';
import { type BatchStorage, type ChunkId, chunkJobId } from './texts/batch/batch.ts';
import { chunkMessage, findStaged } from './texts/batch/chunk-objects.ts';
import { type ChunkRow, chunkRows, isEnded, reopenChunk } from './texts/batch/finish-batch.ts';
import { definitionOf, type Job } from './types/job-types.ts';

/**
 * Scores only the failed rows of a batch: reopens each chunk with failed rows, reopens the chunk's job, whatever its
 * outcome, and sends the job's message. Chunks that have not ended are left alone, and reported in `left`. If a redrive
 * crashes, the next redrive completes it. `chunks` counts all chunks of the batch.
 */
export async function redriveBatch(
  batch: string,
  parts: RedriveParts,
): Promise<Redriven & { readonly batch: string; readonly chunks: number }> {
  let chunks = 0;
  async function* reopened() {
    for await (const { chunkId, row } of chunkRows(batch, parts.batches)) {
      parts.signal?.throwIfAborted();
      chunks += 1;
      const found = await openChunk(chunkId, row, parts);
      if (found !== undefined) yield found;
    }
  }
  const redriven = await sendReopened(reopened(), parts);
  return { batch, chunks, ...redriven };
}

/** Reopens a chunk; undefined if none of its rows failed. */
async function openChunk(
  chunkId: ChunkId,
  row: ChunkRow,
  { ledger, batches }: RedriveParts,
): Promise<Reopened | undefined> {
  if (isEnded(row) && row.counts.failed === 0) return undefined;
  const id = chunkJobId(chunkId);
  if (row.part === undefined) return leftAsIs(id, await ledger.read(id), 'not ended yet');
  const staged = await findStaged(chunkId, batches.store);
  // Without its texts, a reopened chunk could never end.
  if (staged === undefined) return leftAsIs(id, await ledger.read(id), 'its texts have expired');
  const reopened = await reopenChunk(chunkId, batches);
  if (reopened === 'gone' || reopened === 'complete') return undefined;
  // If this does not reopen the job, another redrive has just done so or the row has expired. The job then only needs
  // its message.
  await ledger.reopen(id, { anyOutcome: true });
  // The message is built again, since the message of a done job is not stored.
  return { kind: 'open', id, body: printJson(chunkMessage(chunkId, staged)) };
}

type RedriveParts = {
  readonly store: Store;
  readonly ledger: Ledger;
  readonly queue: Pick<Queue, 'send'>;
  readonly batches: BatchStorage;
  readonly signal?: AbortSignal | undefined;
};

/** A job or dead letter whose message was not sent, and why. */
type NotSent = { readonly id: string; readonly error: string };

/**
 * A job that was not reopened. `status`: null if the ledger does not have the job. `why`: null if the status is
 * the reason.
 */
type LeftJob = {
  readonly id: string;
  readonly status: Lowercase<JobRow['state']> | null;
  readonly why: string | null;
};

/** What a redrive did. `notSent`: reopened jobs whose messages the next redrive sends again. */
type Redriven = {
  readonly opened: readonly string[];
  readonly left: readonly LeftJob[];
  readonly notSent: readonly NotSent[];
};

type Reopened =
  | { readonly kind: 'open'; readonly id: string; readonly body: string }
  | { readonly kind: 'left'; readonly job: LeftJob };

/** Reopens jobs one after another, and sends the message of each before the next is reopened. */
async function sendReopened(
  jobs: AsyncIterable<Reopened>,
  { queue }: Pick<RedriveParts, 'queue'>,
): Promise<Redriven> {
  const opened: string[] = [];
  const left: LeftJob[] = [];
  const notSent: NotSent[] = [];
  for await (const job of jobs) {
    if (job.kind === 'left') {
      left.push(job.job);
      continue;
    }
    const { id } = job;
    const error = (await sendAll(queue, [job.body])).get(0);
    if (error === undefined) opened.push(id);
    else notSent.push({ id, error });
  }
  return { opened, left, notSent };
}

/**
 * Reopens failed jobs, all or those with the given ids, and returns their messages to the queue. A job whose
 * outcome is unknown is never reopened, a cancelled job only by its id, and a job that the platform executed only
 * by its id or with `executed`. If a redrive crashes, the next redrive sends the messages that were not sent.
 */
export async function redriveFailed(
  ids: readonly string[],
  {
    executed = false,
    ...parts
  }: RedriveParts & Pick<NonNullable<Parameters<Ledger['reopen']>[1]>, 'executed'>,
): Promise<Redriven> {
  const isNamed = ids.length > 0;
  async function* reopened() {
    for (const id of isNamed ? ids : await failedIds(parts.store)) {
      parts.signal?.throwIfAborted();
      yield await reopen(id, { isNamed, executed }, parts);
    }
  }
  return sendReopened(reopened(), parts);
}

/**
 * The jobs among these ids, or among all failed jobs, that the platform executed. Reopening them repeats their effects.
 */
export async function executedJobs(
  ids: readonly string[],
  { store, ledger, signal }: Pick<RedriveParts, 'store' | 'ledger' | 'signal'>,
): Promise<readonly JobRow[]> {
  const found: JobRow[] = [];
  for (const id of ids.length > 0 ? ids : await failedIds(store)) {
    signal?.throwIfAborted();
    const row = await ledger.read(id);
    if (row?.state === 'FAILED' && wasExecuted(row.outcome?.error)) found.push(row);
  }
  return found;
}

async function reopen(
  id: string,
  options: NonNullable<Parameters<Ledger['reopen']>[1]>,
  { store, ledger, batches }: Pick<RedriveParts, 'store' | 'ledger' | 'batches'>,
): Promise<Reopened> {
  const body = await findFailedMessage(store, id);
  const before = await ledger.read(id);
  // Without its message, a reopened job would wait forever.
  if (body === undefined) return leftAsIs(id, before);
  const message = parseJobMessage(id, body);
  if (message !== undefined && before && (mayReopen(before, options) || before.state === 'CLAIMED')) {
    const definition = definitionOf(message.job);
    const fault = await definition.reopenFault?.(message.job, before, { store });
    if (fault !== undefined) return leftAsIs(id, before, fault);
    await definition.beforeReopen?.(message.job, { store, batches });
  }
  const { row } = await ledger.reopen(id, options);
  // `jobs resolve` may have been killed before it stored the result and called `afterEnd` of the job's type.
  if (row !== undefined && isSettled(row)) await publishEnd(row, message, { store, batches });
  // The message of a done job is not needed any more. Other jobs may fail while this runs, so their messages stay.
  if (row?.state === 'DONE') await store.delete(failedKey(id));
  // A job that is CLAIMED without having been reopened here may lack its message: an earlier redrive may have died
  // before it sent that. A second message does no harm.
  return row?.state === 'CLAIMED' ? { kind: 'open', id, body } : leftAsIs(id, row);
}

/** A job that is not reopened. Default of `why`: the reason in the job's row. */
const leftAsIs = (id: string, row: JobRow | undefined, why = reasonIn(row)): Reopened => ({
  kind: 'left',
  job: { id, status: row === undefined ? null : lowerCase(row.state), why },
});

/** Why a job is not reopened, according to its row; null if its status says it. */
function reasonIn(row: JobRow | undefined): string | null {
  if (row === undefined) return 'not known';
  if (isCancelled(row)) return 'cancelled';
  return row.state === 'FAILED' && wasExecuted(row.outcome?.error) ? WAS_EXECUTED : null;
}

/**
 * Sends messages. Returns the errors of messages that were not sent, by index. Throws if the queue cannot be used at
 * all.
 */
async function sendAll(
  queue: Pick<Queue, 'send'>,
  bodies: readonly string[],
): Promise<ReadonlyMap<number, string>> {
  try {
    await queue.send(bodies);
    return new Map();
  } catch (error) {
    if (!(error instanceof UnsentError) || error.isOfQueue) throw error;
    return new Map(
      error.unsent.map(({ index, cause }) => [index, new AwsError('queue', 'send', cause).message]),
    );
  }
}

async function failedIds(store: Store): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { key } of store.list(FAILED_FOLDER)) {
    const id = idOfSegment(key.slice(FAILED_FOLDER.length, -FAILED_SUFFIX.length));
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** The visibility timeout of a dead letter while it is moved. */
const MOVE_SECONDS = 30;

type MoveParts = {
  readonly from: Queue;
  readonly to: Pick<Queue, 'send'>;
  readonly polls?: Polls | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Wait this many times the usual number of empty polls before giving up: another process may hold dead letters, and in
 * this time (over a minute, more than `MOVE_SECONDS`) they become visible again.
 */
const MAX_EMPTY_ROUNDS = 5;

/**
 * Moves dead letters back to the queue until no more arrive. Each is sent before it is deleted; those that cannot be
 * sent stay. A message without an id gets its id here, so that a repeated move does not create a second job. `held`:
 * roughly how many dead letters exist but were not received; most likely another process has them.
 */
export async function moveDeadLetters({
  from,
  to,
  polls: defaultPolls = LONG_POLLS,
  signal,
}: MoveParts): Promise<{
  readonly moved: number;
  readonly notMoved: readonly NotSent[];
  readonly held: number;
}> {
  const polls = from.polls ?? defaultPolls;
  const waitSeconds = polls.areCountsExact === true ? 0 : polls.waitSeconds;
  const notMoved = new Map<string, string>();
  const isEmpty = createEmptyCheck(from, polls);
  let moved = 0;
  for (let emptyPolls = 0; emptyPolls < MAX_EMPTY_ROUNDS * polls.emptyPolls; emptyPolls += 1) {
    signal?.throwIfAborted();
    const received = await from.receive({ max: 10, waitSeconds, visibilitySeconds: MOVE_SECONDS });
    // A message that could not be moved is received again after a while.
    const messages = received.filter(({ messageId }) => !notMoved.has(messageId));
    const foundNothing = messages.length === 0;
    if (!foundNothing) emptyPolls = -1;
    moved += await moveBatch(messages, { from, to, notMoved });
    if (await isEmpty({ foundNothing, staying: notMoved.size }))
      return { moved, notMoved: listed(notMoved), held: 0 };
  }
  const held = Math.max(0, total(await from.counts()) - notMoved.size);
  return { moved, notMoved: listed(notMoved), held };
}

const listed = (errors: ReadonlyMap<string, string>): readonly NotSent[] =>
  Array.from(errors, ([id, error]) => ({ id, error }));

/** The body of a message, with the id of its job, since the queue's id of the message will change. */
function bodyWithId({ messageId, body }: QueueMessage): string {
  const parsed = parseMessage(body, { messageId, allow: {} });
  return parsed.kind === 'job' && !parsed.hasExplicitId ? withId(body, messageId) : body;
}

/** Moves messages, and returns how many were moved. Adds messages that cannot be moved to `notMoved`. */
async function moveBatch(
  messages: readonly QueueMessage[],
  { from, to, notMoved }: Pick<MoveParts, 'from' | 'to'> & { readonly notMoved: Map<string, string> },
): Promise<number> {
  if (messages.length === 0) return 0;
  const unsent = await sendAll(to, messages.map(bodyWithId));
  for (const [index, { messageId, receipt }] of messages.entries()) {
    const error = unsent.get(index);
    if (error === undefined) await from.delete(receipt);
    else notMoved.set(messageId, error);
  }
  return messages.length - unsent.size;
}

const FAILED_FOLDER = 'work/failed/';
const FAILED_SUFFIX = '.json';
const failedKey = (id: string) => `${FAILED_FOLDER}${keySegment(id)}${FAILED_SUFFIX}`;

/** The stored message of a job that did not succeed; undefined if it was not stored. */
export const findFailedMessage = async (store: Pick<Store, 'get'>, id: string): Promise<string | undefined> =>
  (await getBounded(store, failedKey(id), 2 * MAX_MESSAGE_BYTES))?.body.toString();

/**
 * Settles an unknown job with the outcome that a user reports, and publishes the result. `hasMessage`: false if the
 * job's message is not stored, so that `afterEnd` of its type was not called (for example, its batch or the history of
 * formulas was not updated).
 */
export async function resolveJob(
  id: string,
  resolution: { readonly status: 'done' | 'failed'; readonly note: string },
  {
    ledger,
    batches,
    environment,
  }: Pick<RedriveParts, 'ledger' | 'batches'> & { readonly environment: Environment },
) {
  const { store } = batches;
  // The event bus is opened first, since its client may not be installed.
  const { SYNC_EVENT_BUS: bus, SYNC_STORE: location } = readSyncSettings(environment);
  const reportFinished = bus === undefined ? undefined : await openEventBus(bus, location, environment);
  // The message is read first, since a redrive deletes the message of a done job.
  const body = await findFailedMessage(store, id);
  const { kind, row } = await ledger.resolve(id, resolution);
  // The outcome in the ledger is published even if this command reports another: an earlier command may have been
  // killed after it wrote the ledger.
  const isPublished = row !== undefined && isSettled(row);
  if (isPublished) await publishEnd(row, parseJobMessage(id, body), { store, batches, reportFinished });
  return { kind, row, isPublished, hasMessage: body !== undefined };
}

/** Opens the event bus on which ended jobs are reported. Throws `PeerMissingError` if its client is not installed. */
export async function openEventBus(bus: string, store: string, environment: Environment) {
  const { sendToEventBridge } = await loadPeer(
    '@aws-sdk/client-eventbridge',
    () => import('./event-bridge.ts'),
  );
  return sendToEventBridge({ bus, store, environment });
}

/** The body of a stored message, and the job that it asks for. */
type JobMessage = { readonly job: Job; readonly body: string };

/** The job of a stored message; undefined if the message is invalid. */
export function parseJobMessage(id: string, body: string | undefined): JobMessage | undefined {
  const parsed = body === undefined ? undefined : parseMessage(body, { messageId: id, allow: {} });
  return body !== undefined && parsed?.kind === 'job' ? { job: parsed.job, body } : undefined;
}

/**
 * Publishes the end of a job: writes its result and reports it. If the job's message is known, also stores the
 * message of an unsuccessful job, and calls `afterEnd` of the job's type. Everything is written from the ledger's row, so
 * a repeat does no harm, and completes what a killed process began. Returns the key of the result.
 */
export async function publishEnd(
  ended: Parameters<typeof writeResult>[1],
  message: JobMessage | undefined,
  options: {
    readonly store: Store;
    readonly batches: BatchStorage;
    /** Reports the end. Default: it is not reported. */
    readonly reportFinished?: ((event: JobFinished) => Promise<void>) | undefined;
  },
): Promise<string> {
  const { store, batches, reportFinished } = options;
  const { id, type, outcome } = ended;
  const result = await writeResult(store, ended);
  if (message !== undefined) {
    if (outcome.status !== 'done') await storeFailedMessage(store, id, message.body);
    await definitionOf(message.job).afterEnd?.(message.job, ended, { store, batches });
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

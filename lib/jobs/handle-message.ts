import type { Logger } from 'pino';
import { type InHand, isOfDisk, traced } from '../base/aws/index.ts';
import { retryUntil } from '../base/index.ts';
import { PlatformError } from '../platform/index.ts';
import type { Store } from '../store/index.ts';
import { afterFailure } from './after-failure.ts';
import type { Allow } from './allow.ts';
import { createDelivery, type Lease, NotClaimedError } from './delivery.ts';
import type { createJobSlots, JobSlot } from './job-slots.ts';
import type { Claim, EndedJobRow, JobError, RunOutcome } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type JobRequest, neverSent, type ReleaseOptions, runsAgain } from './ledger/transitions.ts';
import { type ReadJob, withId } from './message/check-message.ts';
import { parseMessage } from './message/message.ts';
import { MAX_MESSAGE_BYTES, type QueueMessage, sentBytes } from './queue/queue.ts';
import { recordEnd, stageLateOutcome, WRITE_RETRIES } from './record-end.ts';
import { publishEnd } from './redrive.ts';
import { type JobFinished, storeRefused } from './result.ts';
import { type JobClock, JobLostError, UnfinishedError } from './send-context.ts';
import type { BatchStorage } from './texts/batch/batch.ts';
import { definitionOf, type Job, type Runners, runJob } from './types/job-types.ts';

/** A job that has ended, as it is reported to the caller of a worker. */
export type EndedJob = Omit<JobFinished, 'result'> & {
  /** Milliseconds since this worker took the job; undefined if the job had already ended by then. */
  readonly tookMs?: number | undefined;
  readonly error?: JobError | undefined;
};

type Slots = ReturnType<typeof createJobSlots>;

/** What a worker needs to handle messages. Times are in epoch milliseconds. */
export type Worker = JobClock & {
  readonly ledger: Ledger;
  readonly store: Store;
  readonly batches: BatchStorage;
  readonly runners: Runners;
  readonly allow: Allow;
  /** Reports that a job has ended; the job's message is not acknowledged before this succeeds. */
  readonly reportFinished: (event: JobFinished) => Promise<void>;
  /** Called for each job that has ended, and once more if the job's message is delivered again. */
  readonly onEnded?: ((job: EndedJob) => void) | undefined;
  /** Called for each message that is refused, and once more if the message is delivered again. */
  readonly onRefused?: ((messageId: string) => void) | undefined;
  readonly logger: Logger;
  /** Records work in progress: each message, and each job that runs. Absent: it is not recorded. */
  readonly inHand?: InHand | undefined;
  /** The maximum time that a send of the job may take, in milliseconds. */
  readonly maxSendMs: (job: Job) => number;
  /** The slots in which jobs run, together or alone. Absent: each job runs as if it were alone. */
  readonly slots?: Slots | undefined;
  /** Stops jobs while the platform is unavailable. Absent: jobs are never stopped. */
  readonly breaker?: NonNullable<Parameters<typeof createDelivery>[0]['worker']['breaker']>;
};

/**
 * What must happen to a handled message: it is deleted, delivered again after a delay, or replaced by a new message.
 */
type Handled =
  | { readonly kind: 'done' }
  | { readonly kind: 'later'; readonly delayMs: number }
  | { readonly kind: 'replace'; readonly body: string };

const DONE: Handled = { kind: 'done' };

/**
 * If another worker has a message's job, the message is delivered again this long after that worker's lease ends, in
 * milliseconds.
 */
const AFTER_LEASE_MS = 1_000;

/** Maximum time for which a worker holds a message while the platform is unavailable, in milliseconds. */
const MAX_HOLD_MS = 300_000;

/**
 * Handles a message: it ends in one visible result or a refusal, or is requeued. Throws if the store or the
 * ledger is unavailable.
 */
export async function handleMessage(message: QueueMessage, worker: Worker, lease: Lease): Promise<Handled> {
  const parsed = parseMessage(message.body, { messageId: message.messageId, allow: worker.allow });
  if (parsed.kind === 'refused') return refuse(message, worker, parsed.faults);
  const { id: job, type } = parsed.job;
  const batch = 'batch' in parsed.job ? parsed.job.batch : undefined;
  return await traced('job', { job, type, ...(batch && { batch }) }, () =>
    handleJob(message, parsed, worker, lease),
  );
}

async function handleJob(
  message: QueueMessage,
  { job, contentHash, hasExplicitId }: ReadJob<Job>,
  worker: Worker,
  lease: Lease,
): Promise<Handled> {
  const { id, type } = job;
  if (lease.stop?.aborted) return { kind: 'later', delayMs: 0 };
  // If this clock were ahead of the table's, the leases of the first jobs would be too long by the difference.
  await worker.ledger.setTime();
  const request = { id, type, contentHash, sender: message.sender };
  if (!hasExplicitId) return assignId(message, request, worker);
  const earlyMs = Date.parse(job.notBefore ?? '') - worker.now();
  if (earlyMs > 0) return { kind: 'later', delayMs: earlyMs };
  if (!(await mayBegin(job, worker, lease))) return { kind: 'later', delayMs: 0 };
  for (let deaths = 0; ; ) {
    const untilMs = lease.deadlineMs && lease.deadlineMs - worker.maxSendMs(job);
    using slot = await worker.slots?.take({ deaths, untilMs, signal: lease.stop });
    if (worker.slots !== undefined && slot === undefined) return { kind: 'later', delayMs: 0 };
    const handled = await handleInSlot({ message, job, request, slot }, worker, lease);
    if (handled.kind !== 'alone') return handled;
    deaths = handled.deaths;
  }
}

/** The claim failed: many workers died while running the job, so it must run alone. */
type Alone = Extract<NotClaimedError['answer'], { readonly kind: 'alone' }>;

async function handleInSlot(
  options: {
    readonly message: QueueMessage;
    readonly job: Job;
    readonly request: JobRequest;
    readonly slot: JobSlot | undefined;
  },
  worker: Worker,
  lease: Lease,
): Promise<Handled | Alone> {
  const { message, job, request, slot } = options;
  const { id, type } = job;
  using _ = worker.inHand?.hold({ job: id, type });
  await using delivery = createDelivery({
    job,
    request,
    isNew: message.receives === 1,
    slot,
    worker,
    lease,
  });
  const task = { message, job, delivery, sinceMs: worker.now() };
  try {
    // A job whose message was received before may have ended. The claim shows that without a wait for the pace.
    if (definitionOf(job).isClaimedFirst || message.receives > 1) await delivery.claim();
    return await run(task, worker, lease);
  } catch (error) {
    if (error instanceof NotClaimedError) return notClaimed(task, error.answer, worker, lease);
    throw error;
  }
}

/** A job to do, and its message. */
type Task = {
  readonly message: QueueMessage;
  readonly job: Job;
  readonly delivery: ReturnType<typeof createDelivery>;
  readonly sinceMs: number;
};

async function notClaimed(
  task: Task,
  answer: NotClaimedError['answer'],
  worker: Worker,
  { leaseMs }: Lease,
): Promise<Handled | Alone> {
  const { sinceMs: _, ...before } = task;
  switch (answer.kind) {
    case 'other-content':
      return refuse(task.message, worker, [
        `id: expected an id that no other job has, got ${JSON.stringify(task.job.id)}`,
      ]);
    case 'busy':
      // The other worker's lease is assumed to be at most as long as this one. If it seems longer, the clock was
      // set back, and the message would be hidden too long.
      return {
        kind: 'later',
        delayMs: Math.min(leaseMs, Math.max(0, answer.untilMs - worker.now())) + AFTER_LEASE_MS,
      };
    case 'ended':
      // The job of a first delivery has ended only since this worker took it: another delivery of the message ran
      // it while this one waited for its slot.
      return publishResult(task.message.receives > 1 ? before : task, answer.row, worker);
    case 'alone':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Waits until the platform is available; that costs fewer invocations than requeueing the message. Returns whether the
 * job may begin: false if the platform stays unavailable, or a send could take longer than the time left.
 */
async function mayBegin(
  job: Job,
  { breaker, now, sleep, maxSendMs }: Worker,
  { deadlineMs = Number.POSITIVE_INFINITY, stop }: Lease,
): Promise<boolean> {
  const lastMs = deadlineMs - maxSendMs(job);
  const untilMs = Math.min(lastMs, now() + MAX_HOLD_MS);
  for (;;) {
    if (now() > lastMs) return false;
    const blockedMs = await breaker?.blockedMs();
    if (blockedMs === undefined) return true;
    const waitMs = Math.min(blockedMs + 1, untilMs - now());
    if (waitMs <= 0) return false;
    await sleep(waitMs, stop).catch(() => undefined);
    if (stop?.aborted) return false;
  }
}

/**
 * Replaces a message without an id by a copy that has the queue's id of the message, before anything else is done.
 * Without this id, a later copy, such as a dead letter that is moved back, would get a new id on the queue and be a
 * second job. The ledger stores the sender of the original message.
 */
async function assignId(message: QueueMessage, request: JobRequest, worker: Worker): Promise<Handled> {
  const body = withId(message.body, request.id);
  const bytes = sentBytes(body);
  if (bytes > MAX_MESSAGE_BYTES) {
    const fault = `message: expected at most ${MAX_MESSAGE_BYTES} bytes of UTF-8 with its id, got ${bytes}`;
    return refuse(message, worker, [fault]);
  }
  await worker.ledger.announce(request);
  return { kind: 'replace', body };
}

async function refuse(message: QueueMessage, worker: Worker, faults: readonly string[]): Promise<Handled> {
  const refused = await storeRefused(worker.store, message, faults);
  worker.logger.warn({ messageId: message.messageId, refused, faults }, 'message refused');
  worker.onRefused?.(message.messageId);
  return DONE;
}

async function run(task: Task, worker: Worker, lease: Lease): Promise<Handled> {
  const { job, delivery } = task;
  const { now } = worker;
  worker.logger.info({ receives: task.message.receives }, 'job started');
  let outcome: RunOutcome;
  try {
    outcome = await runJob(worker.runners, job, delivery.context);
  } catch (thrown) {
    const unconfirmed = await delivery.close();
    if (unconfirmed !== undefined && mayBeStored(unconfirmed, thrown)) {
      const released = await releaseClaim(unconfirmed, {}, worker, lease);
      if (released === 'called-unknown') return sendAgain(task.message);
      throw thrown;
    }
    if (thrown instanceof NotClaimedError) throw thrown;
    const error = whyEnded(thrown, task, lease);
    const row = delivery.row();
    const after = afterFailure({
      error,
      attempts: row?.attempts ?? 0,
      unsentAttempts: row?.unsentAttempts ?? 0,
      unsentTries: row?.unsentTries ?? 0,
      sinceClaimMs: row === undefined ? 0 : now() - (row.startedAt ?? row.createdAt),
      requestSent: delivery.requestSent(),
      mayRepeat: definitionOf(job).mayRepeat(job),
      // The failures of this job do not show an outage, so a harmless read decides.
      isUnavailable: isSent(error) && (await delivery.context.isPlatformUnavailable?.()),
      random: worker.random(),
    });
    worker.logger.warn({ after: after.kind, tookMs: now() - task.sinceMs, err: error }, 'job not done');
    if (after.kind !== 'end') {
      const back = await requeueAfterFailure(task, after, worker, lease);
      if (isOfDisk(error)) throw error;
      return back;
    }
    outcome = after.outcome;
  }
  const claim = await delivery.claim();
  const ended = await recordEnd(claim, outcome, { ...worker, untilMs: lease.writeUntilMs });
  // Another worker has the job, and its outcome wins. The next delivery of the message reports that outcome.
  if (ended.kind === 'called-unknown') return sendAgain(task.message);
  if (ended.kind === 'lost') return { kind: 'later', delayMs: AFTER_LEASE_MS };
  return publishResult(task, ended.row, worker);
}

/** Whether a claim without a response may have been stored, or may still be, judged by the error of the claim. */
const mayBeStored = (unconfirmed: Claim, thrown: unknown): boolean =>
  !(thrown instanceof NotClaimedError) ||
  (thrown.answer.kind === 'ended' && thrown.answer.row.by === unconfirmed.by);

/** What stopped the work on a job early, for `afterFailure`. */
function whyEnded(thrown: unknown, { job, delivery }: Task, { stop }: Lease): unknown {
  // The platform's response decides, even if the worker was stopped or lost its lease in the meantime.
  if (thrown instanceof PlatformError) return thrown;
  if (delivery.lost.aborted) return new JobLostError(`job ${job.id}: its lease was lost`);
  const error = thrownError(thrown);
  return stop?.aborted && isCausedBy(error, stop.reason) ? stop.reason : error;
}

function isSent(error: unknown): boolean {
  const thrown = error instanceof UnfinishedError ? error.cause : error;
  return thrown instanceof PlatformError && thrown.sent;
}

/** Sends the message again, so that its receiver finds the outcome that was staged for the job. */
const sendAgain = ({ body }: QueueMessage): Handled => ({ kind: 'replace', body });

async function requeueAfterFailure(
  { message, delivery }: Task,
  after: Exclude<ReturnType<typeof afterFailure>, { readonly kind: 'end' }>,
  worker: Worker,
  lease: Lease,
): Promise<Handled> {
  const requestSent = delivery.requestSent();
  const isLost = after.kind === 'leave';
  const later: Handled = { kind: 'later', delayMs: isLost ? lease.leaseMs : after.delayMs };
  // The row must still say SENT, since the request may have been executed.
  if (isLost && requestSent) return later;
  const counts = isLost ? 'nothing' : after.counts;
  // A delivery that made no claim, and counts as nothing, has nothing to record.
  if (delivery.row() === undefined && counts === 'nothing') return later;
  const claim = await delivery.claim();
  // Only this worker knows that nothing was executed. Without this write, the job would end as unknown, or stay
  // unknown.
  const released = await releaseClaim(claim, { requestSent, counts }, worker, lease);
  return released === 'called-unknown' ? sendAgain(message) : later;
}

/**
 * Releases a claim, and retries until time is up. If the job ended as unknown in the meantime, stages the proof that no
 * request was sent.
 */
const releaseClaim = (
  claim: Claim,
  options: ReleaseOptions,
  worker: Worker,
  { writeUntilMs: untilMs }: Lease,
) =>
  retryUntil(
    async () => {
      const { kind } = await worker.ledger.release(claim, options);
      // The caller sends the message again after this, so its receiver finds the proof.
      if (kind === 'called-unknown') await stageLateOutcome(worker.store, claim, neverSent);
      return kind;
    },
    { ...worker, ...WRITE_RETRIES, untilMs },
  );

/** Publishes the result of an ended job. May be repeated, since everything is written from the ledger's row. */
async function publishResult(
  { message, job, sinceMs }: Partial<Task> & Pick<Task, 'message' | 'job'>,
  ended: EndedJobRow,
  worker: Worker,
): Promise<Handled> {
  const { logger } = worker;
  const typed = { ...ended, type: job.type };
  const result = await publishEnd(typed, { job, body: message.body }, worker);
  const { status, error } = ended.outcome;
  const tookMs = sinceMs === undefined ? undefined : worker.now() - sinceMs;
  logger.info({ status, attempts: ended.attempts, tookMs, result }, 'job ended');
  worker.onEnded?.({ id: ended.id, type: job.type, status, tookMs, error });
  // A job that runs again needs a message, and another delivery may have deleted this one in the meantime.
  return runsAgain(ended) ? sendAgain(message) : DONE;
}

/** The thrown value as an error that can be logged and stored: unchanged, if it is an error whose fields can be read. */
function thrownError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(String(thrown));
    if (typeof thrown.message !== 'string') return new Error('an error without a message', { cause: thrown });
    // Logging reads all fields, and a getter may throw.
    for (const name of ['name', 'stack', 'cause', ...Object.keys(thrown)]) Reflect.get(thrown, name);
    return thrown;
  } catch {
    return new Error('an error that cannot be read');
  }
}

/** At most this many causes of an error are followed, since two errors may be each other's cause. */
const MAX_CAUSES = 10;

function isCausedBy(error: unknown, reason: unknown): boolean {
  for (let [each, depth] = [error, 0]; depth < MAX_CAUSES && each instanceof Error; depth += 1) {
    if (each === reason) return true;
    each = each.cause;
  }
  return false;
}

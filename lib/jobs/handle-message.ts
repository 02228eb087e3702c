import type { Logger } from 'pino';
import { type InHand, isOfDisk, traced } from '../base/aws/index.ts';
import { retryUntil } from '../base/index.ts';
import { PlatformError } from '../platform/index.ts';
import type { Store } from '../store/index.ts';
import { afterFailure } from './after-failure.ts';
import type { Allow } from './allow.ts';
import { createDelivery, type Lease, NotClaimedError } from './delivery.ts';
import type { Claim, EndedJobRow, JobError, RunOutcome } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type JobRequest, neverSent, type ReleaseOptions, runsAgain } from './ledger/transitions.ts';
import { type ReadJob, withId } from './message/check-message.ts';
import { parseMessage } from './message/message.ts';
import type { createPlaces, Place } from './places.ts';
import { MAX_MESSAGE_BYTES, type QueueMessage, sentBytes } from './queue/queue.ts';
import { recordEnd, stageLateOutcome, WRITE_RETRIES } from './record-end.ts';
import { publishEnd } from './redrive.ts';
import { type JobFinished, storeRefused } from './result.ts';
import { type JobClock, JobLostError, UnfinishedError } from './send-context.ts';
import type { BatchStorage } from './texts/batch/batch.ts';
import { definitionOf, type Job, type Runners, runBy } from './types/job-types.ts';

export type EndedJob = Omit<JobFinished, 'result'> & {
  /** Milliseconds since this worker took the job; undefined if the job had ended before. */
  readonly tookMs?: number | undefined;
  readonly error?: JobError | undefined;
};

type Places = ReturnType<typeof createPlaces>;

/** What a worker needs to handle messages. Times are in epoch milliseconds. */
export type Worker = JobClock & {
  readonly ledger: Ledger;
  readonly store: Store;
  readonly batches: BatchStorage;
  readonly runners: Runners;
  readonly allow: Allow;
  /** Reports that a job has ended; the job's message is not acknowledged before this succeeds. */
  readonly reportFinished: (event: JobFinished) => Promise<void>;
  /** Called for each job that has ended, and again if its message is delivered again. */
  readonly onEnded?: ((job: EndedJob) => void) | undefined;
  /** Called for each message that is refused, and again if it is delivered again. */
  readonly onRefused?: ((messageId: string) => void) | undefined;
  readonly logger: Logger;
  /** Records work in progress: each message, and each job that runs. Absent: it is not recorded. */
  readonly inHand?: InHand | undefined;
  readonly mustLastMs: (job: Job) => number;
  /** The places in which jobs run, beside one another or alone. Absent: each job runs as if it were alone. */
  readonly places?: Places | undefined;
  /** Stops jobs while the platform is unavailable. Absent: jobs are never stopped. */
  readonly breaker?: NonNullable<Parameters<typeof createDelivery>[0]['worker']['breaker']>;
};

/**
 * The outcome of handling a message: it is done, is delivered again after a delay, or is replaced by another message.
 */
type Handled =
  | { readonly kind: 'done' }
  | { readonly kind: 'later'; readonly delayMs: number }
  | { readonly kind: 'replace'; readonly body: string };

const DONE: Handled = { kind: 'done' };

/**
 * A message whose job another worker has is delivered again this long after that worker's lease ends, in milliseconds.
 */
const AFTER_LEASE_MS = 1_000;

/** Maximum time for which a worker keeps a message while the platform is unavailable, in milliseconds. */
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
  // If a worker's clock were ahead, it would hold its first jobs too long by the same amount.
  await worker.ledger.setTime();
  const request = { id, type, contentHash, sender: message.sender };
  if (!hasExplicitId) return assignId(message, request, worker);
  const earlyMs = Date.parse(job.notBefore ?? '') - worker.now();
  if (earlyMs > 0) return { kind: 'later', delayMs: earlyMs };
  if (!(await mayBegin(job, worker, lease))) return { kind: 'later', delayMs: 0 };
  for (let deaths = 0; ; ) {
    const untilMs = lease.deadlineMs && lease.deadlineMs - worker.mustLastMs(job);
    using place = await worker.places?.take({ deaths, untilMs, signal: lease.stop });
    if (worker.places !== undefined && place === undefined) return { kind: 'later', delayMs: 0 };
    const handled = await handleInPlace({ message, job, request, place }, worker, lease);
    if (handled.kind !== 'alone') return handled;
    deaths = handled.deaths;
  }
}

/**
 * The claim failed because so many workers died while they had the job that it may run only without other
 * jobs beside it.
 */
type Alone = Extract<NotClaimedError['answer'], { readonly kind: 'alone' }>;

async function handleInPlace(
  options: {
    readonly message: QueueMessage;
    readonly job: Job;
    readonly request: JobRequest;
    readonly place: Place | undefined;
  },
  worker: Worker,
  lease: Lease,
): Promise<Handled | Alone> {
  const { message, job, request, place } = options;
  const { id, type } = job;
  using _ = worker.inHand?.hold({ job: id, type });
  await using delivery = createDelivery({
    job,
    request,
    isNew: message.receives === 1,
    place,
    worker,
    lease,
  });
  const task = { message, job, delivery, sinceMs: worker.now() };
  try {
    // A job that was received before may have ended. To find that out, it need not wait for a slot.
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
      // If the clock was set back, the message would be hidden too long. So the other worker's lease is
      // assumed to be at most as long as this one.
      return {
        kind: 'later',
        delayMs: Math.min(leaseMs, Math.max(0, answer.untilMs - worker.now())) + AFTER_LEASE_MS,
      };
    case 'ended':
      // A new job may be delivered twice: one delivery may wait for its slot while the other runs the job.
      return publishResult(task.message.receives > 1 ? before : task, answer.row, worker);
    case 'alone':
      return answer;
    default:
      return answer satisfies never;
  }
}

/**
 * Whether a job may begin: false if a send that starts now could take longer than the time left. While the platform is
 * unavailable, the message waits here as long as there is time, which leads to fewer and longer invocations.
 */
async function mayBegin(
  job: Job,
  { breaker, now, sleep, mustLastMs }: Worker,
  { deadlineMs = Number.POSITIVE_INFINITY, stop }: Lease,
): Promise<boolean> {
  const lastMs = deadlineMs - mustLastMs(job);
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
 * Writes the queue's id of a message into the message, if it has no id, before anything else is done.
 * Otherwise a copy of it, such as a dead letter that is moved back, could get another id on the queue, and
 * would be another job. The ledger stores who sent it.
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
    outcome = await runBy(worker.runners, job, delivery.context);
  } catch (thrown) {
    const tried = await delivery.close();
    if (tried !== undefined && mayBeStored(tried, thrown)) {
      const released = await releaseClaim(tried, {}, worker, lease);
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
      // Three failures of this job alone would look like an outage, so a harmless read decides.
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
  // Another worker has the job, and its outcome wins. It is reported when the message is delivered again.
  if (ended.kind === 'called-unknown') return sendAgain(task.message);
  if (ended.kind === 'lost') return { kind: 'later', delayMs: AFTER_LEASE_MS };
  // Awaited here: if releasing the lease failed unhandled, the process would end.
  return await publishResult(task, ended.row, worker);
}

/** Whether a claim without a response may have been stored, or may be stored later, judged by the error of its step. */
const mayBeStored = (tried: Claim, thrown: unknown): boolean =>
  !(thrown instanceof NotClaimedError) ||
  (thrown.answer.kind === 'ended' && thrown.answer.row.by === tried.by);

/** What stopped the work on a job early, for `afterFailure`. */
function whyEnded(thrown: unknown, { job, delivery }: Task, { stop }: Lease): unknown {
  // If the platform responded to the request, the outcome is known, and is judged as always.
  if (thrown instanceof PlatformError) return thrown;
  if (delivery.lost.aborted) return new JobLostError(`job ${job.id}: its lease was lost`);
  const error = thrownError(thrown);
  return stop?.aborted && isCausedBy(error, stop.reason) ? stop.reason : error;
}

function isSent(error: unknown): boolean {
  const thrown = error instanceof UnfinishedError ? error.cause : error;
  return thrown instanceof PlatformError && thrown.sent;
}

/** Sends the message again: the worker that receives it finds the outcome that was staged for the job. */
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
  // A request that was sent may have been executed, and the next worker must see that.
  if (isLost && requestSent) return later;
  const counts = isLost ? 'nothing' : after.counts;
  // A delivery that only waited has nothing to undo.
  if (delivery.row() === undefined && counts === 'nothing') return later;
  const claim = await delivery.claim();
  // Only this worker knows that nothing was executed: without this write the job would become or stay
  // unknown.
  const released = await releaseClaim(claim, { requestSent, counts }, worker, lease);
  return released === 'called-unknown' ? sendAgain(message) : later;
}

/**
 * Releases a claim, as long as there is time. If the job was called unknown meanwhile, stages the proof that
 * no request was sent.
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
      // This is done before the message is sent again, so that its receiver finds the proof.
      if (kind === 'called-unknown') await stageLateOutcome(worker.store, claim, neverSent);
      return kind;
    },
    { ...worker, ...WRITE_RETRIES, untilMs },
  );

/** Makes an ended job visible. It may be repeated: everything is written from the ledger's row. */
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
  // Meanwhile, another delivery may have deleted the message.
  return runsAgain(ended) ? sendAgain(message) : DONE;
}

/** The thrown value as an error that can be logged and stored; an error that can be read is returned unchanged. */
function thrownError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(String(thrown));
    if (typeof thrown.message !== 'string') return new Error('an error without a text', { cause: thrown });
    // A getter of the error may throw; logging reads all of them.
    for (const name of ['name', 'stack', 'cause', ...Object.keys(thrown)]) Reflect.get(thrown, name);
    return thrown;
  } catch {
    return new Error('an error that cannot be read');
  }
}

/** Maximum depth to which causes of an error are followed: two errors may be each other's cause. */
const MAX_CAUSES = 10;

function isCausedBy(error: unknown, reason: unknown): boolean {
  for (let [each, depth] = [error, 0]; depth < MAX_CAUSES && each instanceof Error; depth += 1) {
    if (each === reason) return true;
    each = each.cause;
  }
  return false;
}

import { once } from '../base/index.ts';
import type { Breaker, Priority } from '../pace/index.ts';
import type { Store } from '../store/index.ts';
import type { JobSlot } from './job-slots.ts';
import { CANCELLED, type Claim } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { ClaimAnswer, JobRequest, SentBy } from './ledger/transitions.ts';
import { findLateOutcome } from './record-end.ts';
import {
  type JobClock,
  JobLostError,
  JobRefusedError,
  RequeueError,
  type SendContext,
} from './send-context.ts';
import { definitionOf, type Job } from './types/job-types.ts';

/** How long this worker may work on the jobs that it claims. */
export type Lease = {
  /** The time by which all work must be done, in epoch milliseconds; undefined if `holdLease` renews the lease. */
  readonly deadlineMs: number | undefined;
  readonly leaseMs: number;
  /** When to give up storing the outcome, in epoch milliseconds. The time may change, and may be infinite. */
  readonly writeUntilMs: () => number;
  /** Renews the lease while a job runs. Its signal is aborted when the lease is lost. */
  readonly holdLease: (claim: Claim) => AsyncDisposable & { readonly signal: AbortSignal };
  /**
   * Aborted with a `RequeueError` when the process must stop: jobs that have not sent a request are then requeued.
   * Absent: the process is never stopped.
   */
  readonly stop?: AbortSignal | undefined;
};

/** The work on a job during one delivery of its message. */
type JobDelivery = AsyncDisposable & {
  readonly context: SendContext;
  /** Aborted if the lease of the job is lost. */
  readonly lost: AbortSignal;
  /** The job's row as last stored; undefined before the job is claimed. */
  readonly row: () => Claim | undefined;
  /** Whether a request was sent, so that something may have been executed. */
  readonly requestSent: () => boolean;
  readonly claim: () => Promise<Claim>;
  /**
   * Stops further sends, including calls that wait for their turn, and waits for a claim in progress. If the
   * response to the claim's write was lost, returns that claim: the table may have stored it, or may still
   * store it.
   */
  readonly close: () => Promise<Claim | undefined>;
};

/** Thrown if the claim failed: another worker holds the job, it has ended, must run alone, or its content differs. */
export class NotClaimedError extends Error {
  override readonly name = 'NotClaimedError';
  readonly answer: Exclude<ClaimAnswer, { readonly kind: 'claimed' }>;

  constructor(id: string, answer: NotClaimedError['answer']) {
    super(`job ${id} could not be claimed: ${answer.kind}`);
    this.answer = answer;
  }
}

type Breakers = Pick<Breaker, 'blockedMs' | 'knownBlockedMs' | 'knownOutageMs'>;

type DeliveryOptions = {
  readonly job: Job;
  readonly request: JobRequest;
  /** Hint that this is most likely the first delivery: the claim then does not read the row first. */
  readonly isNew: boolean;
  /** The slot in which the job runs. Default: the job runs as if alone, in a process without slots. */
  readonly slot?: JobSlot | undefined;
  readonly worker: {
    readonly ledger: Ledger;
    readonly store: Store;
    readonly now: () => number;
    readonly maxSendMs: (job: Job) => number;
    readonly breaker?: Breakers;
    readonly sleep: JobClock['sleep'];
  };
  readonly lease: Lease;
};

/**
 * A request that must not be repeated leaves at most this long after SENT was written, in milliseconds. A worker
 * that is delayed longer takes SENT back.
 */
const MAX_SENT_AGE_MS = 2_000;

/**
 * A job that sends many requests reads its row to see whether it was cancelled. This is the minimum time between two
 * such reads.
 */
const CANCEL_CHECK_MS = 3_000;

/**
 * Creates the delivery of a job. The job is claimed on request, or by its first send, and its lease is held until
 * the delivery is disposed of.
 */
export function createDelivery(options: DeliveryOptions): JobDelivery {
  const { stop } = options.lease;
  const { sent, hold, ...delivery } = createLazyLease(options);
  const signal = stop === undefined ? delivery.lost : AbortSignal.any([delivery.lost, stop]);
  return { ...delivery, ...createSendContext(options, { row: delivery.row, sent, signal, hold }) };
}

/** The options of the job's claim. */
const claimFacts = ({ job, isNew, slot, worker: { ledger, store } }: DeliveryOptions) => ({
  isNew,
  mayRepeat: definitionOf(job).mayRepeat(job),
  by: ledger.newName(),
  isAlone: slot?.isAlone !== false,
  findOutcome: (sent: SentBy) => findLateOutcome(store, sent),
});

function createLazyLease(options: DeliveryOptions) {
  const { request, lease, worker } = options;
  const facts = claimFacts(options);
  const lost = new AbortController();
  const leases = new AsyncDisposableStack();
  let row: Claim | undefined;
  let unconfirmed: Claim | undefined;
  let claiming: Promise<Claim> | undefined;
  let isClosed = false;
  // One of the job's calls may fail while another call is claiming the job.
  const settled = () => claiming?.catch(() => undefined);

  const onTry = (written: Claim) => {
    unconfirmed = written;
  };
  const claim = async (sends: boolean): Promise<Claim> => {
    const { leaseMs } = lease;
    const answer = await worker.ledger.claim(request, { ...facts, sends, leaseMs, onTry });
    if (answer.kind !== 'claimed') throw new NotClaimedError(request.id, answer);
    row = answer.claim;
    const { signal } = leases.use(lease.holdLease(row));
    signal.addEventListener('abort', () => lost.abort(signal.reason), { once: true });
    return row;
  };

  return {
    lost: lost.signal,
    row: () => row,
    async claim() {
      await settled();
      return row ?? (await claim(false));
    },
    /**
     * Records that a request leaves now. If the job is not claimed yet, the same write claims it. Returns
     * undefined if this worker no longer has the job.
     */
    async sent(): Promise<Claim | undefined> {
      if (row === undefined) {
        if (isClosed || leases.disposed) return undefined;
        claiming = claim(true);
        return claiming;
      }
      const answer = await worker.ledger.sent(row);
      if (answer.kind === 'lost') return undefined;
      row = answer.claim;
      return row;
    },
    async close() {
      isClosed = true;
      await settled();
      return row === undefined ? unconfirmed : undefined;
    },
    hold: (release: () => void) => leases.defer(release),
    [Symbol.asyncDispose]: () => leases.disposeAsync(),
  };
}

/** The priority of the job's calls: the one in its message, otherwise the one of its type. */
const priorityOf = (job: Job): Priority =>
  job.priority ?? (definitionOf(job).isBulk?.(job) === true ? 'bulk' : 'normal');

function createSendContext(
  options: DeliveryOptions,
  parts: Pick<JobDelivery, 'row'> & {
    readonly sent: () => Promise<Claim | undefined>;
    readonly signal: AbortSignal;
    readonly hold: SendContext['hold'];
  },
): Pick<JobDelivery, 'context' | 'requestSent'> {
  const { row, sent, signal, hold } = parts;
  const { job, worker, lease } = options;
  const { now, breaker } = worker;
  const leftMs = () => (lease.deadlineMs ?? Number.POSITIVE_INFINITY) - now();
  const definition = definitionOf(job);
  const maxSendMs = worker.maxSendMs(job);
  const isCancelled = createCancelCheck(options, definition.sendsMany === true);
  let sendUntilMs = Number.POSITIVE_INFINITY;
  let requestSent = false;

  // If the write fails, the next call of the job may try again.
  const recordSend = once(async (): Promise<void> => {
    const claim = await sent();
    if (claim === undefined) throw new JobLostError(`job ${job.id}: another worker has it now`);
    // The write took time, so the lease may now be too short for a send, unless the lease is renewed.
    const heldMs = claim.leaseUntilMs - now();
    if (heldMs < (lease.deadlineMs === undefined ? 1 : maxSendMs)) throw tooLate(heldMs);
    if (!definition.mayRepeat(job)) sendUntilMs = Math.min(now() + MAX_SENT_AGE_MS, claim.leaseUntilMs);
  });
  const checkMaySend = (): void => {
    signal.throwIfAborted();
    if (isCancelled.known() || row()?.cancelled === true)
      throw new JobRefusedError('cancelled', `${CANCELLED} while it was running`);
    const blockedMs = requestSent ? breaker?.knownOutageMs() : breaker?.knownBlockedMs();
    if (blockedMs !== undefined) throw new RequeueError('the platform is unavailable', blockedMs);
    if (leftMs() < maxSendMs) throw tooLate(leftMs());
  };
  const context: SendContext = {
    signal,
    priority: priorityOf(job),
    hold,
    isPlatformUnavailable: () => isPlatformUnavailable(worker, lease),
    onProgress: once(() => recordProgress(options, row())),
    lastSendMs: lease.deadlineMs === undefined ? undefined : lease.deadlineMs - maxSendMs,
    onSend() {
      checkMaySend();
      if (!requestSent && now() > sendUntilMs) throw new RequeueError('SENT was written too long ago', 0);
      requestSent = true;
    },
    async beforeSend() {
      await isCancelled.check();
      checkMaySend();
      await recordSend();
    },
  };
  return { context, requestSent: () => requestSent };
}

/** Resets the count of workers that died while they ran this job, and lets other jobs run at the same time again. */
async function recordProgress({ worker, slot }: DeliveryOptions, claim: Claim | undefined): Promise<void> {
  if (claim === undefined || claim.takeovers === 0) return;
  const { kind } = await worker.ledger.progress(claim).catch(() => ({ kind: 'lost' }) as const);
  if (kind === 'held') slot?.share();
}

/** Maximum time for which a failed call waits for the breaker's harmless read, in milliseconds. */
const MAX_PROBE_WAIT_MS = 30_000;

/** Whether all calls fail, not only those of one job. A harmless read decides, or its last result if time is short. */
async function isPlatformUnavailable(
  { breaker, now, sleep }: DeliveryOptions['worker'],
  { deadlineMs = Number.POSITIVE_INFINITY, stop }: Lease,
): Promise<boolean> {
  if (breaker === undefined) return false;
  const done = new AbortController();
  const signal = stop === undefined ? done.signal : AbortSignal.any([done.signal, stop]);
  const timeUp = sleep(Math.min(MAX_PROBE_WAIT_MS, deadlineMs - now()), signal).catch(() => undefined);
  const known = timeUp.then(() => breaker.knownBlockedMs());
  const blockedMs = await Promise.race([breaker.blockedMs(), known]).finally(() => done.abort());
  return blockedMs !== undefined;
}

/**
 * Creates the check whether a job that can stop between sends was cancelled. It reads the job's row from time to
 * time; a read that fails is made up for by the next one.
 */
function createCancelCheck({ job, worker: { ledger, now } }: DeliveryOptions, mayStopBetweenSends: boolean) {
  let checkedAtMs = now();
  let isCancelled = false;
  return {
    async check(): Promise<void> {
      if (!mayStopBetweenSends || now() - checkedAtMs < CANCEL_CHECK_MS) return;
      checkedAtMs = now();
      const found = await ledger.read(job.id).catch(() => undefined);
      isCancelled ||= found?.cancelled === true;
    },
    known: () => isCancelled,
  };
}

const tooLate = (leftMs: number) => new RequeueError(`${leftMs} ms are left, and a send may take longer`, 0);

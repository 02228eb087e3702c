import { once } from '../base/index.ts';
import type { Breaker, Priority } from '../pace/index.ts';
import type { Store } from '../store/index.ts';
import { CANCELLED, type Claim } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { ClaimAnswer, JobRequest, SentBy } from './ledger/transitions.ts';
import type { Place } from './places.ts';
import { findLateOutcome } from './record-end.ts';
import {
  type JobClock,
  JobLostError,
  JobRefusedError,
  RequeueError,
  type SendContext,
} from './send-context.ts';
import { definitionOf, type Job } from './types/job-types.ts';

export type Lease = {
  /** The time by which everything must be done; undefined if `holdLease` renews the lease. */
  readonly deadlineMs: number | undefined;
  readonly leaseMs: number;
  /** Until when to retry storing the outcome, in epoch milliseconds. It may change, and may be infinite. */
  readonly writeUntilMs: () => number;
  /** Renews the lease while a job runs. Its signal is aborted when the lease is lost. */
  readonly holdLease: (claim: Claim) => AsyncDisposable & { readonly signal: AbortSignal };
  /**
   * Aborted with a `RequeueError` when the process must stop: jobs that have not sent a request are requeued.
   * Absent: the process is never stopped.
   */
  readonly stop?: AbortSignal | undefined;
};

/** A job during one delivery of its message. */
type JobDelivery = AsyncDisposable & {
  readonly context: SendContext;
  readonly lost: AbortSignal;
  /** The job's row as last stored; undefined before the job is claimed. */
  readonly row: () => Claim | undefined;
  /** Whether a request was sent: before that, nothing can have been executed. */
  readonly requestSent: () => boolean;
  readonly claim: () => Promise<Claim>;
  /**
   * Stops further sends, including calls that wait for their turn, and waits for a claim in progress. If a
   * claim recorded a send and the response of that write was lost, returns the claim: the table may have
   * stored it, or may store it later.
   */
  readonly close: () => Promise<Claim | undefined>;
};

/** Thrown if the claim failed: the job is held by another worker, has ended, or has other content under the same id. */
export class NotClaimedError extends Error {
  override readonly name = 'NotClaimedError';
  readonly answer: Exclude<ClaimAnswer, { readonly kind: 'claimed' }>;

  constructor(id: string, answer: NotClaimedError['answer']) {
    super(`job ${id}: expected to claim it, got ${answer.kind}`);
    this.answer = answer;
  }
}

type Breakers = Pick<Breaker, 'blockedMs' | 'knownBlockedMs' | 'knownOutageMs'>;

type DeliveryOptions = {
  readonly job: Job;
  readonly request: JobRequest;
  /** Hint that this is most likely the first delivery, so that the claim need not read the row. */
  readonly isNew: boolean;
  /** The place where the job runs. Default: it runs as if alone, in a process without places. */
  readonly place?: Place | undefined;
  readonly worker: {
    readonly ledger: Ledger;
    readonly store: Store;
    readonly now: () => number;
    readonly mustLastMs: (job: Job) => number;
    readonly breaker?: Breakers;
    readonly sleep: JobClock['sleep'];
  };
  readonly lease: Lease;
};

/**
 * If a request must not be repeated, it may leave at most this long after SENT was written, in milliseconds;
 * a worker that is delayed longer takes SENT back.
 */
const SENT_LASTS_MS = 2_000;

/** How often at most a job that sends many requests reads its row, to see whether it was cancelled. */
const LOOK_EVERY_MS = 3_000;

/**
 * Creates the delivery of a job, which is claimed on request or by its first send. Its lease is held until
 * this is disposed of.
 */
export function createDelivery(options: DeliveryOptions): JobDelivery {
  const { stop } = options.lease;
  const { sent, hold, ...delivery } = createLazyLease(options);
  const signal = stop === undefined ? delivery.lost : AbortSignal.any([delivery.lost, stop]);
  return { ...delivery, ...createSendContext(options, { row: delivery.row, sent, signal, hold }) };
}

/** The facts with which the job is claimed, together with its first send or before it. */
const claimFacts = ({ job, isNew, place, worker: { ledger, store } }: DeliveryOptions) => ({
  isNew,
  mayRepeat: definitionOf(job).mayRepeat(job),
  by: ledger.newName(),
  isAlone: place?.isAlone !== false,
  findOutcome: (sent: SentBy) => findLateOutcome(store, sent),
});

function createLazyLease(options: DeliveryOptions) {
  const { request, lease, worker } = options;
  const facts = claimFacts(options);
  const lost = new AbortController();
  const leases = new AsyncDisposableStack();
  let row: Claim | undefined;
  let tried: Claim | undefined;
  let claiming: Promise<Claim> | undefined;
  let isClosed = false;
  // Waits for a claim in progress: a job is claimed only once, and one of its calls may fail while another
  // one is claiming it.
  const settled = () => claiming?.catch(() => undefined);

  const onTry = (trying: Claim) => {
    tried = trying;
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
     * Records that a request leaves now. If the job is not claimed yet, the same write claims it. Undefined:
     * the job is lost.
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
      return row === undefined ? tried : undefined;
    },
    hold: (release: () => void) => leases.defer(release),
    [Symbol.asyncDispose]: () => leases.disposeAsync(),
  };
}

/** The priority of the job's calls: from its message, otherwise from its type. */
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
  const mustLastMs = worker.mustLastMs(job);
  const isCancelled = createCancelCheck(options, definition.sendsMany === true);
  let sendUntilMs = Number.POSITIVE_INFINITY;
  let requestSent = false;

  // If the write fails, the next call may try it again.
  const recordSend = once(async (): Promise<void> => {
    const claim = await sent();
    if (claim === undefined) throw new JobLostError(`job ${job.id}: another worker has it now`);
    // The write took time. A lease that is renewed lasts as long as the process.
    const heldMs = claim.leaseUntilMs - now();
    if (heldMs < (lease.deadlineMs === undefined ? 1 : mustLastMs)) throw tooLate(heldMs);
    if (!definition.mayRepeat(job)) sendUntilMs = Math.min(now() + SENT_LASTS_MS, claim.leaseUntilMs);
  });
  const checkMaySend = (): void => {
    signal.throwIfAborted();
    if (isCancelled.known() || row()?.cancelled === true)
      throw new JobRefusedError('cancelled', `${CANCELLED} while it was under way`);
    const blockedMs = requestSent ? breaker?.knownOutageMs() : breaker?.knownBlockedMs();
    if (blockedMs !== undefined) throw new RequeueError('the platform is unavailable', blockedMs);
    if (leftMs() < mustLastMs) throw tooLate(leftMs());
  };
  const context: SendContext = {
    signal,
    priority: priorityOf(job),
    hold,
    isPlatformUnavailable: () => isPlatformUnavailable(worker, lease),
    onProgress: once(() => recordProgress(options, row())),
    lastSendMs: lease.deadlineMs === undefined ? undefined : lease.deadlineMs - mustLastMs,
    onSend() {
      checkMaySend();
      if (!requestSent && now() > sendUntilMs) throw new RequeueError('SENT was written too long ago', 0);
      requestSent = true;
    },
    async beforeSend() {
      await isCancelled.look();
      checkMaySend();
      await recordSend();
    },
  };
  return { context, requestSent: () => requestSent };
}

/** Resets the count of workers that died while they ran this job, and lets other jobs run beside it again. */
async function recordProgress({ worker, place }: DeliveryOptions, claim: Claim | undefined): Promise<void> {
  if (claim === undefined || claim.takeovers === 0) return;
  const { kind } = await worker.ledger.progress(claim).catch(() => ({ kind: 'lost' }) as const);
  if (kind === 'held') place?.share();
}

/** How long a failed call waits to learn whether the platform is unavailable. */
const MAX_LOOK_MS = 30_000;

/** Whether all calls fail, not only those of one job. A harmless read decides that, if there is time for it. */
async function isPlatformUnavailable(
  { breaker, now, sleep }: DeliveryOptions['worker'],
  { deadlineMs = Number.POSITIVE_INFINITY, stop }: Lease,
): Promise<boolean> {
  if (breaker === undefined) return false;
  const looked = new AbortController();
  const signal = stop === undefined ? looked.signal : AbortSignal.any([looked.signal, stop]);
  const late = sleep(Math.min(MAX_LOOK_MS, deadlineMs - now()), signal).catch(() => undefined);
  const known = late.then(() => breaker.knownBlockedMs());
  const blockedMs = await Promise.race([breaker.blockedMs(), known]).finally(() => looked.abort());
  return blockedMs !== undefined;
}

/**
 * Creates a check of whether the job was cancelled, if it can stop between sends: it reads the row now and
 * then. If the table is unavailable, the next read decides.
 */
function createCancelCheck({ job, worker: { ledger, now } }: DeliveryOptions, stopsBetween: boolean) {
  let lookedAtMs = now();
  let isCancelled = false;
  return {
    async look(): Promise<void> {
      if (!stopsBetween || now() - lookedAtMs < LOOK_EVERY_MS) return;
      lookedAtMs = now();
      const found = await ledger.read(job.id).catch(() => undefined);
      isCancelled ||= found?.cancelled === true;
    },
    known: () => isCancelled,
  };
}

const tooLate = (leftMs: number) => new RequeueError(`${leftMs} ms are left, and a send may take longer`, 0);

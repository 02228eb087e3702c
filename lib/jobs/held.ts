import type { Breaker } from '../pace/breaker.ts';
import type { Share } from '../pace/fair-order.ts';
import type { Store } from '../store/index.ts';
import { CANCELLED, type Claim } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';
import { type ClaimAnswer, type JobRequest, type SentAnswer, sentInTime } from './ledger/transitions.ts';
import { findLateOutcome } from './record-end.ts';
import { HandBackError, JobCancelledError, type Turn, TurnLostError } from './turn.ts';

export type Lease = {
  /** When everything must be done; undefined if `holdLease` keeps the lease alive. */
  readonly deadlineMs: number | undefined;
  readonly leaseMs: number;
  /**
   * Until when it is tried to record what happened to a job, in epoch milliseconds: what came back must not be lost, even
   * if the lease is. It may change: infinity as long as nobody stops the process.
   */
  readonly writeUntilMs: () => number;
  /** Renews the lease while a job runs; the signal is aborted when the lease is lost. */
  readonly holdLease: (claim: Claim) => AsyncDisposable & { readonly signal: AbortSignal };
  /** Aborted when the process is to stop, with a `HandBackError`: what has not left goes back. Absent: it never is. */
  readonly stop?: AbortSignal | undefined;
};

/** A job as one delivery of its message has it. */
export type Held = AsyncDisposable & {
  readonly turn: Turn;
  /** Aborted when the lease is lost. */
  readonly lost: AbortSignal;
  /** The job's row as it was stored last; undefined as long as the job is not claimed. */
  readonly row: () => Claim | undefined;
  /** A request has left: until then nothing can have been executed. */
  readonly hasLeft: () => boolean;
  /** Claims the job, unless it is claimed. Throws `NotClaimedError`. */
  readonly claim: () => Promise<Claim>;
  /**
   * Ends the sends, of calls too that come to their turn only now, and waits for a claim that is under way. Returns one
   * that recorded a send, if no response came: it may have been stored, or be stored yet.
   */
  readonly close: () => Promise<Claim | undefined>;
};

/** The job is somebody else's, has ended, or has other content. */
export class NotClaimedError extends Error {
  override readonly name = 'NotClaimedError';
  readonly answer: Exclude<ClaimAnswer, { readonly kind: 'claimed' }>;

  constructor(id: string, answer: NotClaimedError['answer']) {
    super(`job ${id}: expected to claim it, got ${answer.kind}`);
    this.answer = answer;
  }
}

export type HeldOptions = {
  readonly request: JobRequest;
  readonly isNew: boolean;
  readonly mayRepeat: boolean;
  /** It sends many requests, and looks between them whether a person has cancelled it. Default: false. */
  readonly stopsWhenCancelled?: boolean | undefined;
  /** How long a send of this job may take. */
  readonly mustLastMs: number;
  /** Default: `normal`. */
  readonly share?: Share;
  readonly worker: {
    readonly ledger: Ledger;
    readonly store: Store;
    readonly now: () => number;
    readonly breaker?: Pick<Breaker, 'knownBlockedMs'>;
  };
  readonly lease: Lease;
};

/** How old SENT may be when a request leaves that may not be repeated; a worker that is held up longer takes it back. */
const SENT_LASTS_MS = 2_000;

/** How often a job that sends many requests looks whether it was cancelled, at most: a read of its row. */
const LOOK_EVERY_MS = 3_000;

/**
 * A job that is claimed when that is asked for, or by the record of its first send, and whose lease is then held until
 * this is disposed.
 */
export function createHeld(options: HeldOptions): Held {
  const { stop } = options.lease;
  const { sent, ...hold } = createHold(options);
  const signal = stop === undefined ? hold.lost : AbortSignal.any([hold.lost, stop]);
  const { turn, hasLeft } = createTurn(options, { row: hold.row, sent, signal });
  return { ...hold, turn, hasLeft };
}

/** Claims the job, once, and holds its lease. */
function createHold({ request, isNew, mayRepeat, worker, lease, mustLastMs }: HeldOptions) {
  const { ledger, store } = worker;
  const by = ledger.newName();
  const lost = new AbortController();
  const leases = new AsyncDisposableStack();
  let [row, tried]: [Claim?, Claim?] = [];
  let claiming: Promise<Claim> | undefined;
  let isClosed = false;
  // A job is claimed once: one of its calls may fail while the claim for another one is under way.
  const settled = () => claiming?.catch(() => undefined);

  const claim = async (sends: boolean): Promise<Claim> => {
    const answer = await ledger.claim(request, {
      ...{ isNew, mayRepeat, by, leaseMs: lease.leaseMs },
      findOutcome: (sent) => findLateOutcome(store, sent),
      ...(sends ? { sends, onTry: (trying: Claim) => (tried = trying) } : {}),
    });
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
    /** Records that a request leaves now; a job that is not claimed is claimed by the same write. */
    async sent(): Promise<SentAnswer> {
      // A renewed lease lasts as long as the process.
      const must = { mustLastMs: lease.deadlineMs === undefined ? 1 : mustLastMs };
      if (row !== undefined) {
        const answer = await ledger.sent(row, must);
        if (answer.kind === 'sent') row = answer.claim;
        return answer;
      }
      if (isClosed) return { kind: 'lost', row };
      claiming = claim(true);
      return sentInTime(await claiming, { ...must, nowMs: ledger.now() });
    },
    async close() {
      isClosed = true;
      await settled();
      return row === undefined ? tried : undefined;
    },
    [Symbol.asyncDispose]() {
      isClosed = true;
      return leases.disposeAsync();
    },
  };
}

type Sends = Pick<Held, 'row'> & {
  readonly sent: () => Promise<SentAnswer>;
  readonly signal: AbortSignal;
};

function createTurn(options: HeldOptions, { row, sent, signal }: Sends) {
  const { request, mayRepeat, mustLastMs, share = 'normal', worker, lease } = options;
  const { now, breaker } = worker;
  const { deadlineMs } = lease;
  const isCancelled = createCancelCheck(options);
  let recording: Promise<void> | undefined;
  let [leaveUntilMs, hasLeft] = [Number.POSITIVE_INFINITY, false];

  const recordSend = async (): Promise<void> => {
    const answer = await sent();
    if (answer.kind === 'too-late') throw tooLate(answer.leftMs);
    if (answer.kind === 'lost') throw new TurnLostError(`job ${request.id}: another worker has it now`);
    if (!mayRepeat) leaveUntilMs = Math.min(now() + SENT_LASTS_MS, answer.claim.leaseUntilMs);
  };
  const checkMaySend = (): void => {
    signal.throwIfAborted();
    if (isCancelled.known() || row()?.cancelled === true)
      throw new JobCancelledError(`${CANCELLED} while it was under way`);
    const awayMs = breaker?.knownBlockedMs();
    if (awayMs !== undefined) throw new HandBackError('the platform is away', awayMs);
    if (deadlineMs !== undefined && deadlineMs - now() < mustLastMs) throw tooLate(deadlineMs - now());
  };
  const turn: Turn = {
    ...{ signal, share, deadlineMs },
    lastSendMs: deadlineMs === undefined ? undefined : deadlineMs - mustLastMs,
    onLeave() {
      checkMaySend();
      if (!hasLeft && now() > leaveUntilMs) throw new HandBackError('SENT was written too long ago', 0);
      hasLeft = true;
    },
    async beforeSend() {
      await isCancelled.look();
      checkMaySend();
      recording ??= recordSend();
      // If it fails, the next call may try to write it again.
      await recording.catch((error: unknown) => {
        recording = undefined;
        throw error;
      });
    },
  };
  return { turn, hasLeft: () => hasLeft };
}

/** Looks at the row now and then, where the job stops between sends. If the table is away, the next look shows it. */
function createCancelCheck({ request, stopsWhenCancelled, worker: { ledger, now } }: HeldOptions) {
  let [lookedAtMs, isCancelled] = [now(), false];
  return {
    async look(): Promise<void> {
      if (stopsWhenCancelled !== true || now() - lookedAtMs < LOOK_EVERY_MS) return;
      lookedAtMs = now();
      const found = await ledger.read(request.id).catch(() => undefined);
      isCancelled ||= found?.cancelled === true;
    },
    known: () => isCancelled,
  };
}

const tooLate = (leftMs: number) => new HandBackError(`${leftMs} ms are left, and a send may take longer`, 0);

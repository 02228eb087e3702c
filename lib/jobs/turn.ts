import type { Share } from '../pace/fair-order.ts';
import type { Held } from './held.ts';
import { CANCELLED, type Claim, type Outcome } from './ledger/job-row.ts';

/** What a runner works with while it has a job. */
export type Turn = {
  /** Aborted when the lease is lost: from then on the outcome of the work may not be recorded. */
  readonly signal: AbortSignal;
  /** Whose calls the job's are. Default: `normal`. */
  readonly share?: Share | undefined;
  /**
   * Records in the ledger that a request is leaving. Await it shortly before the call's turn, as its `beforeSend`. The
   * job's first call writes the record, and every call checks the time left. Throws if nothing may be sent.
   */
  readonly beforeSend: () => Promise<void>;
  /** The same check at the moment the call leaves, as its `onLeave`: the turn may have come late. */
  readonly onLeave: () => void;
  /** When everything must be done, in epoch milliseconds; undefined if the lease is renewed. */
  readonly deadlineMs: number | undefined;
  /** After this time no send may start: it could outlast the deadline. */
  readonly lastSendMs?: number | undefined;
};

/**
 * Does a job, and returns how it ended. `response` is JSON text, exactly as the platform sent it if it came from there.
 * `afterFailure` decides what happens if this throws.
 */
export type RunJob<Job> = (job: Job, turn: Turn) => Promise<Outcome>;

/** What a turn was ended by on purpose. */
class TurnError extends Error {
  override readonly name: string = 'TurnError';

  /** For the log: where it was thrown says nothing. */
  get isRefusal(): boolean {
    return true;
  }
}

/** Another worker has the job now. */
export class TurnLostError extends TurnError {
  override readonly name = 'TurnLostError';
}

/** The job cannot continue here and now; it is handed back, and no attempt is counted. */
export class HandBackError extends TurnError {
  override readonly name = 'HandBackError';
  readonly delayMs: number;

  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = delayMs;
  }
}

/**
 * A job was done in part. Its cause decides what happens to the job, as if it had been thrown itself; if the job ends,
 * its result has this response: JSON text that says what was done, and what it cost.
 */
export class UnfinishedError extends Error {
  override readonly name = 'UnfinishedError';
  override readonly cause: unknown;
  readonly response: string;

  constructor(cause: unknown, response: string) {
    super(cause instanceof Error ? cause.message : String(cause));
    this.cause = cause;
    this.response = response;
  }
}

/** A person cancelled the job while it was under way: it ends with what it has. */
export class JobCancelledError extends TurnError {
  override readonly name = 'JobCancelledError';
}

/** The job must not be done as things stand, and nothing was sent: it ends as failed, with an error of this kind. */
export class JobRefusedError extends TurnError {
  override readonly name = 'JobRefusedError';
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type TurnOptions = {
  readonly id: string;
  readonly held: Pick<Held, 'row' | 'sent'>;
  readonly signal: AbortSignal;
  readonly deadlineMs: number | undefined;
  /** How long a send of this job may take. */
  readonly mustLastMs: number;
  /** How old SENT may be when the first request leaves, within the lease. Default: as old as it likes. */
  readonly sentLastsMs?: number | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** How long no call may leave, since the platform is away; undefined if it may. */
  readonly blockedMs?: (() => number | undefined) | undefined;
  /** Reads whether a person has cancelled the job meanwhile; undefined if it does not stop between sends. */
  readonly isCancelled?: (() => Promise<boolean>) | undefined;
  /** Default: `normal`. */
  readonly share?: Share;
};

/** How often a job that sends many requests looks whether it was cancelled, at most: a read of its row. */
const LOOK_EVERY_MS = 3_000;

/** A turn, with how many sends of the job have started so far. */
export type CountedTurn = Turn & {
  /** A request has left in this turn: until then nothing can have been executed. */
  readonly hasLeft: () => boolean;
  readonly attempts: () => number;
};

export function createTurn(options: TurnOptions): CountedTurn {
  const { held, signal, deadlineMs, mustLastMs, sentLastsMs, now, blockedMs, share = 'normal' } = options;
  let writing: Promise<void> | undefined;
  let [leaveUntilMs, hasLeft] = [Number.POSITIVE_INFINITY, false];
  const cancelCheck = createCancelCheck(options);
  const checkMaySend = () => {
    signal.throwIfAborted();
    cancelCheck.throwIfCancelled(held.row());
    const awayMs = blockedMs?.();
    if (awayMs !== undefined) throw new HandBackError('the platform is away', awayMs);
    if (deadlineMs !== undefined && deadlineMs - now() < mustLastMs) throw tooLate(deadlineMs - now());
  };
  const write = async () => {
    const { leaseUntilMs } = await writeSent(options);
    if (sentLastsMs !== undefined) leaveUntilMs = Math.min(now() + sentLastsMs, leaseUntilMs);
  };
  return {
    signal,
    share,
    deadlineMs,
    lastSendMs: deadlineMs === undefined ? undefined : deadlineMs - mustLastMs,
    hasLeft: () => hasLeft,
    attempts: () => held.row()?.attempts ?? 0,
    onLeave() {
      checkMaySend();
      if (!hasLeft && now() > leaveUntilMs) throw new HandBackError('SENT was written too long ago', 0);
      hasLeft = true;
    },
    async beforeSend() {
      await cancelCheck.look();
      checkMaySend();
      writing ??= write();
      try {
        await writing;
      } catch (error) {
        // The next call may try to write it again.
        writing = undefined;
        throw error;
      }
    },
  };
}

/** Finds out whether the job was cancelled: in the row that the ledger returned, or by looking at it now and then. */
function createCancelCheck({ isCancelled, now }: TurnOptions) {
  let lookedAtMs = now();
  let isStopped = false;
  return {
    async look() {
      if (isCancelled === undefined || now() - lookedAtMs < LOOK_EVERY_MS) return;
      lookedAtMs = now();
      // If the table is away, the next look shows it.
      isStopped ||= await isCancelled().catch(() => false);
    },
    throwIfCancelled(row: Claim | undefined) {
      if (isStopped || row?.cancelled === true)
        throw new JobCancelledError(`${CANCELLED} while it was under way`);
    },
  };
}

async function writeSent({ id, held, mustLastMs }: TurnOptions): Promise<Claim> {
  const answer = await held.sent({ mustLastMs });
  switch (answer.kind) {
    case 'sent':
      return answer.claim;
    case 'too-late':
      throw tooLate(answer.leftMs);
    case 'lost':
      throw new TurnLostError(`job ${id}: another worker has it now`);
    default:
      return answer satisfies never;
  }
}

const tooLate = (leftMs: number) => new HandBackError(`${leftMs} ms are left, and a send may take longer`, 0);

import type { Claim, Holder, Outcome } from './ledger/job-row.ts';
import type { Ledger } from './ledger/ledger.ts';

/** What a runner works with while it has a job. */
export type Turn = {
  /** Aborted when the lease was lost: whatever comes of the work, nobody may write it down. */
  readonly signal: AbortSignal;
  /**
   * Notes in the ledger that a request leaves: to be awaited in the call's turn, as its `beforeSend`. Written by the
   * first call of the job, and held against the time left by every one. Throws where nothing may leave.
   */
  readonly beforeSend: () => Promise<void>;
  /** Epoch milliseconds by which all must be done; none where the lease is renewed. */
  readonly deadlineMs: number | undefined;
};

/**
 * Does a job, and returns how it ended; `response` is JSON text, as the platform sent it where it did. What it throws
 * is judged by `afterFailure`.
 */
export type RunJob<Job> = (job: Job, turn: Turn) => Promise<Outcome>;

/** Another worker has the job now. */
export class TurnLostError extends Error {
  override readonly name = 'TurnLostError';
}

/** The job cannot go on here and now; it is handed back, and no attempt is counted. */
export class HandBackError extends Error {
  override readonly name = 'HandBackError';
  readonly delayMs: number;

  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = delayMs;
  }
}

/** The job must not be done as things stand, and nothing was sent: it ends as failed, with an error of this kind. */
export class JobRefusedError extends Error {
  override readonly name = 'JobRefusedError';
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type TurnOptions = {
  readonly ledger: Pick<Ledger, 'sent' | 'notSent'>;
  readonly claim: Claim;
  readonly signal: AbortSignal;
  readonly deadlineMs: number | undefined;
  /** How long a send of this job may take. */
  readonly mustLastMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

/** A turn, and how often a send of the job was started by the end of it. */
export type CountedTurn = Turn & { readonly hasSent: () => boolean; readonly attempts: () => number };

export function createTurn(options: TurnOptions): CountedTurn {
  const { ledger, claim, signal, deadlineMs, mustLastMs, now } = options;
  let writing: Promise<Claim> | undefined;
  let written: Claim | undefined;
  return {
    signal,
    deadlineMs,
    hasSent: () => writing !== undefined,
    attempts: () => (written ?? claim).attempts,
    async beforeSend() {
      signal.throwIfAborted();
      if (deadlineMs !== undefined && deadlineMs - now() < mustLastMs) throw tooLate(deadlineMs - now());
      writing ??= writeSent(ledger, claim, mustLastMs);
      try {
        written = await writing;
      } catch (error) {
        // Taken back below: the next call may try to write it again.
        writing = undefined;
        throw error;
      }
    },
  };
}

async function writeSent(ledger: TurnOptions['ledger'], holder: Holder, mustLastMs: number): Promise<Claim> {
  const answer = await ledger.sent(holder, { mustLastMs }).catch(async (error: unknown) => {
    // It may have been written all the same, and nothing has left.
    await ledger.notSent(holder, { wasTried: false });
    throw error;
  });
  switch (answer.kind) {
    case 'sent':
      return answer.claim;
    case 'too-late':
      throw tooLate(answer.leftMs);
    case 'already-sent':
      throw new Error(`job ${holder.id}: a send was started before, and has not been taken back`);
    case 'lost':
      throw new TurnLostError(`job ${holder.id}: another worker has it now`);
    default:
      return answer satisfies never;
  }
}

const tooLate = (leftMs: number) =>
  new HandBackError(`${leftMs} ms are left, which is less than a send may take`, 0);

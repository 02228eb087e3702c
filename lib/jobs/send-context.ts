import { errorText } from '../base/index.ts';
import type { Priority } from '../pace/index.ts';
import type { RunOutcome } from './ledger/job-row.ts';

/** A clock in epoch milliseconds, a sleep by it, and a source of random numbers. */
export type JobClock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

export type SendContext = {
  readonly signal: AbortSignal;
  readonly priority?: Priority | undefined;
  /**
   * Records in the ledger that a request is about to leave. Await it shortly before the call's turn. Throws
   * if nothing may be sent.
   */
  readonly beforeSend: () => Promise<void>;
  readonly onSend: () => void;
  /**
   * Whether all calls fail, not only those of this job; to be asked after a call has failed. It may read from
   * the platform. Default: false.
   */
  readonly isPlatformUnavailable?: (() => Promise<boolean>) | undefined;
  /** To be called when a part of the job's work was stored that need not be repeated. Default: not called. */
  readonly onProgress?: (() => Promise<void>) | undefined;
  /** Registers a callback that runs when this worker is finished with the job. Default: not registered. */
  readonly hold?: ((release: () => void) => void) | undefined;
  /** The time (epoch milliseconds) after which no send may start, since it could outlast the deadline. */
  readonly lastSendMs?: number | undefined;
};

/**
 * Does a job, and returns its outcome. `response` is JSON text or its UTF-8. If it came from the platform, it
 * is exactly as sent.
 */
export type RunJob<Job> = (job: Job, context: SendContext) => Promise<RunOutcome>;

/** Base class of errors that end the work on a job deliberately. */
class JobStoppedError extends Error {
  override readonly name: string = 'JobStoppedError';

  /** Whether the log should leave out the stack, which is of no use here. */
  get isRefusal(): boolean {
    return true;
  }
}

export class JobLostError extends JobStoppedError {
  override readonly name = 'JobLostError';
}

/** Thrown if the job cannot continue here and now. It is requeued, and no attempt is counted. */
export class RequeueError extends JobStoppedError {
  override readonly name = 'RequeueError';
  readonly delayMs: number;

  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = delayMs;
  }
}

/**
 * Thrown if the job was done only in part. The cause decides what happens to the job. If it ends, this JSON
 * is its response.
 */
export class UnfinishedError extends Error {
  override readonly name = 'UnfinishedError';
  override readonly cause: unknown;
  readonly response: string;

  constructor(cause: unknown, response: string) {
    super(errorText(cause));
    this.cause = cause;
    this.response = response;
  }
}

/** Thrown if the job must not be done under the current conditions. It fails with an error of this kind. */
export class JobRefusedError extends JobStoppedError {
  override readonly name = 'JobRefusedError';
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

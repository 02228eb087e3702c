import { errorText } from '../base/index.ts';
import type { Priority } from '../pace/index.ts';
import type { RunOutcome } from './ledger/job-row.ts';

/** A clock in epoch milliseconds, a sleep by it, and a source of random numbers. */
export type JobClock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

/** What the runner of a job needs to send requests to the platform. */
export type SendContext = {
  readonly signal: AbortSignal;
  readonly priority?: Priority | undefined;
  /**
   * Records in the ledger that a request is about to leave. To be awaited shortly before the call's turn. Throws
   * if nothing may be sent.
   */
  readonly beforeSend: () => Promise<void>;
  /** To be called when the request leaves. Throws if nothing may be sent any more. */
  readonly onSend: () => void;
  /**
   * Whether all calls fail, not only those of this job. To be called after a call has failed; may read from the
   * platform. Default: false.
   */
  readonly isPlatformUnavailable?: (() => Promise<boolean>) | undefined;
  /**
   * To be called after a part of the job's work has been stored, so that it need not be repeated. Default: not called.
   */
  readonly onProgress?: (() => Promise<void>) | undefined;
  /** Registers a callback that runs when this worker is finished with the job. Default: not registered. */
  readonly hold?: ((release: () => void) => void) | undefined;
  /** The time after which no send may start, since it could outlast the deadline, in epoch milliseconds. */
  readonly lastSendMs?: number | undefined;
};

/**
 * Does a job, and returns its outcome. `response` is JSON, as a string or a buffer of UTF-8. If it came from the
 * platform, it is exactly as received.
 */
export type RunJob<Job> = (job: Job, context: SendContext) => Promise<RunOutcome>;

/** Base class of errors that end the work on a job deliberately. */
class JobStoppedError extends Error {
  override readonly name: string = 'JobStoppedError';

  /** Makes the log leave out the stack, which would say nothing about this error. */
  get isRefusal(): boolean {
    return true;
  }
}

/** Thrown if another worker has the job now, so that this worker must not continue with it. */
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
 * Thrown if a job was done only in part. The cause decides what happens to the job. If the job ends, `response`
 * (JSON) is its response.
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

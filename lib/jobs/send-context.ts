import { errorText } from '../base/index.ts';
import type { Priority } from '../pace/index.ts';
import type { RunOutcome } from './ledger/job-row.ts';

/** A clock in epoch milliseconds, a sleep on it, and chance. */
export type JobClock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly random: () => number;
};

export type SendContext = {
  readonly signal: AbortSignal;
  readonly priority?: Priority | undefined;
  /** Records in the ledger that a request is leaving: await it shortly before the call's turn. Throws if nothing may be sent. */
  readonly beforeSend: () => Promise<void>;
  readonly onSend: () => void;
  /** Whether all calls fail, not only those of this job. It may read from the platform: for a call that has ended. Default: they do not. */
  readonly isPlatformAway?: (() => Promise<boolean>) | undefined;
  /** Call it when a part of the job's work is stored, which another turn has not to do again. Default: nothing is recorded. */
  readonly onProgress?: (() => Promise<void>) | undefined;
  /** Registers a callback that runs when this worker is finished with the job. Default: nothing is held. */
  readonly hold?: ((release: () => void) => void) | undefined;
  /** Epoch milliseconds: after it no send may start, which could outlast the deadline. */
  readonly lastSendMs?: number | undefined;
};

/** Does a job, and returns how it ended. `response` is JSON text, exactly as the platform sent it if it came from there, or its UTF-8. */
export type RunJob<Job> = (job: Job, context: SendContext) => Promise<RunOutcome>;

/** Base class of errors that end the work on a job deliberately. */
class JobStoppedError extends Error {
  override readonly name: string = 'JobStoppedError';

  /** For the log: where it was thrown says nothing. */
  get isRefusal(): boolean {
    return true;
  }
}

export class JobLostError extends JobStoppedError {
  override readonly name = 'JobLostError';
}

/** The job cannot continue here and now and returns to the queue; no attempt is counted. */
export class RequeueError extends JobStoppedError {
  override readonly name = 'RequeueError';
  readonly delayMs: number;

  constructor(message: string, delayMs: number) {
    super(message);
    this.delayMs = delayMs;
  }
}

/** Done in part. Its cause decides what happens to the job; if it ends, this JSON is its response. */
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

/** The job must not be done as things stand: it ends as failed, with an error of this kind. */
export class JobRefusedError extends JobStoppedError {
  override readonly name = 'JobRefusedError';
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

import type { Json } from '../../table/index.ts';

export type JobState = 'CLAIMED' | 'SENT' | EndState;

export type EndState = 'DONE' | 'FAILED' | 'UNKNOWN';

/** Why a job did not succeed. The ledger's own kinds: `cancelled`, `workers-died`, `answer-lost`,
 * `never-sent`, `resolved`. */
export type JobError = {
  readonly kind: string;
  readonly message: string;
  readonly [fact: string]: Json | undefined;
};

/** How a job ended: what came back, or why nothing did, or the key of a staged object that holds it. */
export type Outcome = {
  readonly status: 'done' | 'failed' | 'unknown';
  readonly response?: Json;
  readonly error?: JobError;
  readonly staged?: string;
  /** What a person said who settled a job whose outcome was unknown. */
  readonly note?: string;
};

/** A job’s row in the ledger. Times in epoch milliseconds. */
export type JobRow = {
  readonly id: string;
  /** Absent, like `contentHash` and `sender`, where the job was cancelled before its message was seen. */
  readonly type?: string;
  readonly contentHash?: string;
  /** Who sent the message that was claimed first. */
  readonly sender?: string;
  readonly state: JobState;
  /** Rises with every claim; only the holder of the highest may write. */
  readonly fence: number;
  /** The delivery that claimed it last, so that a claim that got no response is not taken for another one. */
  readonly by?: string;
  /** Until when the holder has the job; absent if nobody has it. */
  readonly leaseUntilMs?: number;
  /** Sends that have started since the job was created or reopened. */
  readonly attempts: number;
  /** How many of these were certainly not executed, or failed since the platform was away; absent if none did. */
  readonly unsentAttempts?: number;
  /** Turns since then that failed and executed nothing, with a send or without; absent if there was none. */
  readonly unsentTries?: number;
  /** Leases that have expired and been taken over since then. */
  readonly takeovers: number;
  /** The day of the first claim, YYYY-MM-DD in UTC: the `dt` of the job's result. */
  readonly dt: string;
  readonly createdAt: number;
  /** The first claim since the job was created or reopened. */
  readonly startedAt?: number;
  /** Later than every earlier end of the job. */
  readonly finishedAt?: number;
  /** The last end of a reopened job. */
  readonly earlierFinishedAt?: number;
  /** The fence of the last send that was not taken back. */
  readonly sentFence?: number;
  /** While a send is repeated: the fence of the send before it, whose outcome is unknown. */
  readonly earlierSentFence?: number;
  /**
   * A person cancelled the job after it had failed: only by its id is it reopened. While it is under way: its worker is
   * to send no more.
   */
  readonly cancelled?: boolean;
  readonly outcome?: Outcome;
};

/** The row of a job that has ended. */
export type EndedJobRow = JobRow & {
  readonly state: EndState;
  readonly finishedAt: number;
  readonly outcome: Outcome;
};

/** The row of a job that a worker holds, as it was when the ledger returned it. */
export type Claim = JobRow & { readonly state: 'CLAIMED' | 'SENT'; readonly leaseUntilMs: number };

/** What proves a claim: any row of it will do, however old. */
export type Holder = Pick<Claim, 'id' | 'fence' | 'by'>;

/** Whether the row’s job has ended. */
export const hasEnded = (row: JobRow): row is EndedJobRow => row.outcome !== undefined;

/** How the message of the error of a cancelled job begins; rows of its texts have it too. */
export const CANCELLED = 'the job was cancelled';

/** Whether a person cancelled the job, before it was sent or after it had failed. */
export const isCancelled = ({ cancelled, outcome }: JobRow): boolean =>
  cancelled === true || outcome?.error?.kind === 'cancelled';

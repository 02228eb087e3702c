import type { Claim, EndedJobRow, Holder, JobRow, Outcome } from './job-row.ts';

/** What a message says about its job. */
export type JobRequest = {
  readonly id: string;
  readonly type: string;
  readonly contentHash: string;
  readonly sender: string;
};

export type ClaimOptions = {
  readonly leaseMs: number;
  /** A send whose outcome is unknown may be repeated. Default: false. */
  readonly mayRepeat?: boolean;
  /** Most likely nobody has seen the job yet: then its claim costs no read. It may be wrong. Default: false. */
  readonly isNew?: boolean;
  /**
   * Looks for the outcome of a send that the ledger never heard of. Asked before a job is called unknown or sent again;
   * what it throws is thrown. Default: there is none.
   */
  readonly findOutcome?: (sent: SentBy) => Promise<Outcome | undefined>;
  /** Names the delivery that claims. A claim of the same one, whose response was lost, is found again. */
  readonly by?: string;
  /** The same write records that a request leaves now, as `sent` does. Default: false. */
  readonly sends?: boolean;
  /**
   * Called with each claim before it is written. If no response to that comes, it may be stored at any time: then nothing
   * may leave, and a release sees to it that the job is not taken for sent.
   */
  readonly onTry?: (trying: Claim) => void;
};

/** A send of a job: the fence that sent it. `createdAt` distinguishes the job from an earlier one with its id. */
export type SentBy = Pick<JobRow, 'id' | 'createdAt' | 'fence'>;

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /** Somebody else has it, until `untilMs`. */
  | { readonly kind: 'busy'; readonly untilMs: number }
  | { readonly kind: 'ended'; readonly row: EndedJobRow }
  /** The id belongs to a job with different content, which was left alone. */
  | { readonly kind: 'other-content' };

/** The holder no longer has the claim; `row` is the row as it is now. Nothing was changed. */
export type Lost = { readonly kind: 'lost'; readonly row: JobRow | undefined };

/**
 * Another worker has called the job unknown, which could not know better. Nothing was changed: stage what is known, and
 * then send the job's message again. Whoever receives it finds that.
 */
type CalledUnknown = { readonly kind: 'called-unknown' };

export type HeldAnswer = { readonly kind: 'held'; readonly claim: Claim } | Lost;

export type SentAnswer =
  /** The request may leave, once. */
  | { readonly kind: 'sent'; readonly claim: Claim }
  /** The lease does not last as long as the send may; `leftMs` is the time left, negative if it has expired. */
  | { readonly kind: 'too-late'; readonly leftMs: number }
  | Lost;

export type ReleaseAnswer = { readonly kind: 'released'; readonly row: JobRow } | CalledUnknown | Lost;

export type ReleaseOptions = {
  /** Whether a request has left; then it is proved that nothing was executed, or a repeat does no harm. Default: false. */
  readonly hasLeft?: boolean;
  /** An attempt, a try that executed nothing, or neither, since the turn only waited. Default: `nothing`. */
  readonly counts?: 'attempt' | 'try' | 'nothing';
};

export type EndAnswer = { readonly kind: 'ended'; readonly row: EndedJobRow } | CalledUnknown | Lost;

export type CancelOptions = {
  /** Whether jobs of a type send many requests, and stop between two of them. Default: none does. */
  readonly stops?: (type: string) => boolean;
};

export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly row: EndedJobRow }
  /** Its worker sends no more, and ends it with what it has. */
  | { readonly kind: 'stopping'; readonly row: JobRow }
  | { readonly kind: 'sent'; readonly row: JobRow }
  | { readonly kind: 'ended'; readonly row: EndedJobRow };

/** `refused`: the outcome of the job is not unknown. */
export type ResolveAnswer =
  | { readonly kind: 'resolved'; readonly row: EndedJobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined };

/** What a person says about a job whose outcome is unknown. */
export type Resolution = { readonly status: 'done' | 'failed'; readonly note: string };

export type ReopenOptions = {
  /** Reopens the job though it was cancelled: a person named it. Default: false. */
  readonly isNamed?: boolean;
  /** Reopens the job however it ended: a repeat does no harm, and more of it may succeed. Default: false. */
  readonly anyEnd?: boolean;
  /** The next message may have other content: some texts of the job may have been forgotten. Default: false. */
  readonly anyContent?: boolean;
};

/** `refused`: the job has not failed, was cancelled and not named, or does not exist. */
export type ReopenAnswer =
  | { readonly kind: 'reopened'; readonly row: JobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined };

/**
 * The states of all jobs, in a table that all workers share. Failures of the table are thrown as `TableError`; the step
 * may have been taken all the same. Repeating a step does no harm, but see `sent` for what it requires.
 */
export type Ledger = {
  /** The clock of all leases, in epoch milliseconds: the table's, if it is known. */
  readonly now: () => number;
  /** A name that nothing had before. */
  readonly newName: () => string;
  /** Sees to it that `now` is the table's time: a read if it is not known yet, and nothing otherwise. */
  setTime(): Promise<void>;
  /** Records who asked for a job before it can be claimed; changes nothing if the job is known. */
  announce(request: JobRequest): Promise<void>;
  claim(request: JobRequest, options: ClaimOptions): Promise<ClaimAnswer>;
  /**
   * Records that a request leaves now. `mustLastMs`: how long it may take; the lease must last as long. Unless the
   * answer is `sent`, nothing may leave, and SENT may be there all the same: repeat the step, or release the job.
   */
  sent(holder: Holder, options: { readonly mustLastMs: number }): Promise<SentAnswer>;
  /** Makes the lease last at least `leaseMs` from now; a longer one is left as it is. */
  renew(holder: Holder, leaseMs: number): Promise<HeldAnswer>;
  /**
   * Hands the job back, and takes its send back: anyone may claim it at once, and no takeover is counted. Of a claim that
   * may have been stored, or be stored yet, too.
   */
  release(holder: Holder & Partial<JobRequest>, options?: ReleaseOptions): Promise<ReleaseAnswer>;
  end(holder: Holder, outcome: Outcome): Promise<EndAnswer>;
  read(id: string): Promise<JobRow | undefined>;
  /** Stops a job that has not been sent, even one whose message has not arrived yet; one that failed stays failed. */
  cancel(id: string, options?: CancelOptions): Promise<CancelAnswer>;
  /** Reopens a failed job; its message must be put on the queue again. */
  reopen(id: string, options?: ReopenOptions): Promise<ReopenAnswer>;
  /** Settles a job whose outcome is unknown by a person's word. */
  resolve(id: string, resolution: Resolution): Promise<ResolveAnswer>;
  /** The rows of all jobs, in no particular order: for people, not for workers. */
  list(): AsyncGenerator<JobRow>;
};

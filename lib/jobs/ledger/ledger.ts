import type { Claim, EndedJobRow, Holder, JobRow, Outcome } from './job-row.ts';

/** What a message says of its job. */
export type JobRequest = {
  readonly id: string;
  readonly type: string;
  readonly contentHash: string;
  readonly sender: string;
};

export type ClaimOptions = {
  readonly leaseMs: number;
  /** A send whose end nobody knows may be made again. Default: false. */
  readonly mayRepeat?: boolean;
};

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  /** Somebody else has it, until `untilMs`. */
  | { readonly kind: 'busy'; readonly untilMs: number }
  | { readonly kind: 'ended'; readonly row: EndedJobRow }
  /** The id belongs to a job of another content, which was left alone. */
  | { readonly kind: 'other-content' };

/** The claim is no longer the holder's; `row` is what is there now. Nothing was changed. */
export type Lost = { readonly kind: 'lost'; readonly row: JobRow | undefined };

export type HeldAnswer = { readonly kind: 'held'; readonly claim: Claim } | Lost;

export type SentAnswer =
  /** The request may leave, once. */
  | { readonly kind: 'sent'; readonly claim: Claim }
  /** The lease does not last as long as the send must; `leftMs` of it are left, none if negative. */
  | { readonly kind: 'too-late'; readonly leftMs: number }
  /** The holder started a send before and has not taken it back. */
  | { readonly kind: 'already-sent'; readonly claim: Claim }
  | Lost;

export type ReleaseAnswer =
  | { readonly kind: 'released'; readonly row: JobRow }
  | { readonly kind: 'already-sent'; readonly claim: Claim }
  | Lost;

export type EndAnswer = { readonly kind: 'ended'; readonly row: EndedJobRow } | Lost;

export type CancelAnswer =
  | { readonly kind: 'cancelled'; readonly row: EndedJobRow }
  | { readonly kind: 'sent'; readonly row: JobRow }
  | { readonly kind: 'ended'; readonly row: EndedJobRow };

/** `refused`: what is there is not a failed job, or nothing is. */
export type ReopenAnswer =
  | { readonly kind: 'reopened'; readonly row: JobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined };

/**
 * The states of all jobs, in a table that all workers share. Failures of the table are thrown as `TableError`; what
 * was asked may have been done all the same. To ask again does no harm: see `sent` for what it needs.
 */
export type Ledger = {
  claim(request: JobRequest, options: ClaimOptions): Promise<ClaimAnswer>;
  /**
   * Says that a request leaves now. `mustLastMs`: how long it may take; the lease must last as long. After an error
   * nothing may be sent: take the send back with `notSent(holder, { wasTried: false })` first.
   */
  sent(holder: Holder, options: { readonly mustLastMs: number }): Promise<SentAnswer>;
  /**
   * Takes a send back, on proof that nothing was executed, or where a repeat does no harm. The attempt stays counted,
   * unless the request never left (`wasTried: false`).
   */
  notSent(holder: Holder, options?: { readonly wasTried?: boolean }): Promise<HeldAnswer>;
  /** The lease lasts at least `leaseMs` from now; a longer one is kept. */
  renew(holder: Holder, leaseMs: number): Promise<HeldAnswer>;
  /** Hands the job back: anyone may claim it at once, and no takeover is counted. A send must be taken back first. */
  release(holder: Holder): Promise<ReleaseAnswer>;
  end(holder: Holder, outcome: Outcome): Promise<EndAnswer>;
  read(id: string): Promise<JobRow | undefined>;
  /** Stops a job that has not been sent, even one whose message is not here yet. */
  cancel(id: string): Promise<CancelAnswer>;
  /** Opens a failed job again; its message must be put on the queue again. */
  reopen(id: string): Promise<ReopenAnswer>;
  /** The rows of all jobs, in no order: for people, not for workers. */
  list(): AsyncGenerator<JobRow>;
};

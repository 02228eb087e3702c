import { isDeepStrictEqual } from 'node:util';
import {
  blankRow,
  type Claim,
  type EndedJobRow,
  endOf,
  failure,
  type Holder,
  hasEnded,
  isCancelled,
  type JobRow,
  type Outcome,
  withoutLease,
} from './job-row.ts';

/*
 * from                        to                by whom                                                      step
 * --------------------------  ----------------  -----------------------------------------------------------------
 * no row                      CLAIMED, no lease anyone                                        announce, release
 * no row                      FAILED            anyone; error `cancelled`                                  cancel
 * CLAIMED, sent before        UNKNOWN           anyone who may not repeat; error `answer-lost`              claim
 * no row; CLAIMED, no lease   CLAIMED or SENT   anyone; fence+1                                             claim
 * CLAIMED, lease expired      CLAIMED or SENT   anyone; fence+1, takeovers+1                                claim
 *   … after 3 takeovers       the same          anyone that runs nothing else; if it dies, deathsAlone+1    claim
 *   … after 5 such deaths     FAILED            anyone; error `workers-died`                                claim
 * CLAIMED                     FAILED            anyone; error `cancelled`                                  cancel
 * CLAIMED, SENT; has a lease  the same          anyone, where the job stops between sends; cancelled       cancel
 * CLAIMED with a lease        SENT              the holder; attempts+1                                       sent
 * CLAIMED, SENT; has a lease  the same          the holder: longer lease                                    renew
 * CLAIMED, SENT; has a lease  the same          the holder, once it stored a part; takeovers 0           progress
 * CLAIMED, SENT; has a lease  CLAIMED, no lease the holder; of SENT on proof, attempts-1 if it never left; release
 *                                               deathsAlone 0
 * CLAIMED, SENT; has a lease  an end            the holder                                                    end
 * SENT, lease expired         UNKNOWN           anyone who may not repeat                                   claim
 * SENT, lease expired         CLAIMED or SENT   anyone who may repeat, as if it were CLAIMED                claim
 * SENT, lease expired         an end            anyone who finds the outcome that the holder staged         claim
 * UNKNOWN; CLAIMED, sent      DONE              anyone who finds the outcome that the fence that sent       claim
 *   before                                      staged
 * UNKNOWN                     FAILED            anyone who finds its staged proof; error `never-sent`       claim
 * UNKNOWN                     DONE, FAILED      a user; a note, or error `resolved`                       resolve
 * FAILED, never sent, and     CLAIMED or SENT   anyone; fence+1                                             claim
 *   not cancelled
 * FAILED                      FAILED            a user; cancelled                                          cancel
 * FAILED                      CLAIMED, no lease anyone, if cancelled or executed, a user by its id;        reopen
 *                                               fence+1, attempts, tries and takeovers 0
 * DONE, FAILED                the same          a user, after its result was stored; without response       prune
 * an end                      CLAIMED, no lease anyone, where a repeat does no harm; the same              reopen
 *
 * "Sent before" means under an earlier fence, and not taken back. A job with an unexpired lease cannot be claimed. An
 * end is DONE, FAILED or UNKNOWN. The holder is the worker that claimed with the row's fence, as long as the row has a
 * lease, even an expired one. Every other step is refused, and changes nothing.
 */

/** What a step decides: the new row, if any, and the answer to return once it is stored. */
export type Decision<Answer> = { readonly write?: JobRow; readonly answer: Answer };

/** The job is no longer the caller's, so the step changed nothing. `row`: the current row. */
type Lost = { readonly kind: 'lost'; readonly row: JobRow | undefined };

/**
 * Another worker ended the job as unknown. This worker must stage the outcome, and then send the job's message
 * again, so that the receiver finds the outcome.
 */
type CalledUnknown = { readonly kind: 'called-unknown' };

/** What the message of a job says about it. */
export type JobRequest = {
  readonly id: string;
  readonly type: string;
  readonly contentHash: string;
  readonly sender: string;
};

/** What decides about a claim, apart from the row. */
export type ClaimFacts = {
  readonly leaseMs: number;
  /** Whether a send with an unknown outcome may be repeated. Default: false. */
  readonly mayRepeat?: boolean;
  /**
   * The id of the delivery that makes the claim. If the response is lost, the delivery recognizes its claim by this.
   */
  readonly by?: string;
  /** Whether the claim also records a send, as `sent` does, which saves a write. Default: false. */
  readonly sends?: boolean;
  /** Whether the worker runs no other job. Default: false. */
  readonly isAlone?: boolean;
  readonly nowMs: number;
  /** The staged outcome of the last send of a job without a holder; undefined if it was not looked for yet. */
  readonly late?: LateOutcome | undefined;
};

/** A send of a job, identified by its fence. `createdAt` distinguishes the job from an earlier one with the same id. */
export type SentBy = Pick<JobRow, 'id' | 'createdAt' | 'fence'>;

/** A send, and its outcome if one was staged outside the ledger. */
type LateOutcome = { readonly sent: SentBy; readonly outcome: Outcome | undefined };

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly claim: Claim }
  | { readonly kind: 'busy'; readonly untilMs: number }
  /** Too many workers died while running the job: only a worker that runs no other job may claim it. */
  | { readonly kind: 'alone'; readonly deaths: number }
  | { readonly kind: 'ended'; readonly row: EndedJobRow }
  /** The id belongs to a stored job whose content differs. That job was not changed. */
  | { readonly kind: 'other-content' };

/** The caller must look for a staged outcome of this send, and then claim again. */
export type LookAnswer = { readonly kind: 'look'; readonly sent: SentBy };

/**
 * A job that was running during this many worker deaths may be their cause. From then on it runs alone, so that
 * no other job dies with it.
 */
const MAX_DEATHS_AMONG_OTHERS = 3;

/**
 * After this many workers have died that ran only this job, with neither progress nor a release in between, the job
 * itself is to blame.
 */
const MAX_DEATHS_ALONE = 5;

/** Decides a claim. If the job can have a staged outcome, the answer asks the caller to look for it first. */
export function decideClaim(
  row: JobRow | undefined,
  request: JobRequest,
  facts: ClaimFacts,
): Decision<ClaimAnswer | LookAnswer> {
  const { by, mayRepeat = false, nowMs, late } = facts;
  if (row === undefined) return claimed(firstClaim(request, nowMs), facts);
  if ((row.contentHash ?? request.contentHash) !== request.contentHash)
    return { answer: { kind: 'other-content' } };
  // The row may have been created by `cancel`, which does not know the job's message.
  const known: JobRow = { ...factsOf(request), ...(runsAgain(row) ? opened(row) : row) };
  if (hasEnded(known) && known.state !== 'UNKNOWN') return { answer: { kind: 'ended', row: known } };
  const { leaseUntilMs: untilMs, fence } = known;
  // The row shows the caller's own claim, whose response was lost.
  if (facts.sends && by !== undefined && isHeldBy(known, { id: known.id, fence, by }))
    return { answer: { kind: 'claimed', claim: known } };
  const free = untilMs === undefined ? known : afterDeath(known);
  const next: JobRow = { ...free, state: 'CLAIMED', fence: fence + 1, startedAt: known.startedAt ?? nowMs };
  if (untilMs !== undefined && nowMs < untilMs) return { answer: { kind: 'busy', untilMs } };
  const asStaged = endAsStaged(known, late, nowMs);
  if (asStaged !== undefined) return asStaged;
  if (hasEnded(known)) return { answer: { kind: 'ended', row: known } };
  if (known.sentFence !== undefined && !mayRepeat) return ended(known, answerLost, nowMs);
  const { takeovers: deaths, deathsAlone = 0 } = next;
  if (deathsAlone >= MAX_DEATHS_ALONE) return ended(known, workersDied(deathsAlone), nowMs);
  if (deaths < MAX_DEATHS_AMONG_OTHERS) return claimed(next, { ...facts, isAlone: false });
  return facts.isAlone ? claimed(next, facts) : { answer: { kind: 'alone', deaths } };
}

/** The row of a job whose holder died. The holder's send shows nothing about the job. */
function afterDeath(row: JobRow): JobRow {
  const alone = row.isAlone ? { deathsAlone: (row.deathsAlone ?? 0) + 1 } : {};
  const unsent = row.state === 'SENT' ? { unsentAttempts: (row.unsentAttempts ?? 0) + 1 } : {};
  return { ...row, ...alone, ...unsent, takeovers: row.takeovers + 1 };
}

/** Ends a job that has no holder with the outcome that was found for its send; undefined if none was found. */
function endAsStaged(
  row: JobRow,
  late: LateOutcome | undefined,
  nowMs: number,
): Decision<ClaimAnswer | LookAnswer> | undefined {
  const { id, createdAt, sentFence: fence } = row;
  if (fence === undefined) return undefined;
  const sent = { id, createdAt, fence };
  if (!isSentBy(row, late)) return { answer: { kind: 'look', sent } };
  if (late.outcome === undefined) return undefined;
  if (isNeverSent(late.outcome))
    return ended({ ...withoutSend(row), attempts: row.attempts - 1 }, late.outcome, nowMs);
  const isHolders = row.fence === fence && row.leaseUntilMs !== undefined;
  const mayEnd = isHolders || late.outcome.status === 'done';
  return mayEnd ? ended(row, late.outcome, nowMs) : undefined;
}

const isSentBy = ({ sentFence, createdAt }: JobRow, late: LateOutcome | undefined): late is LateOutcome =>
  late?.sent.fence === sentFence && late?.sent.createdAt === createdAt;

/** Decides what storing the sender changes: only a job without a row gets one. */
export const decideAnnounce = (
  row: JobRow | undefined,
  request: JobRequest,
  nowMs: number,
): Decision<undefined> => {
  const write = { ...blankRow(request.id, nowMs), ...factsOf(request) };
  return row === undefined ? { write, answer: undefined } : { answer: undefined };
};

/** `sent`: the request may leave, once. The caller first checks that enough of the lease is left: the write took time. */
export type SentAnswer = { readonly kind: 'sent'; readonly claim: Claim } | Lost;

/** Decides whether the holder may send a request now. */
export function decideSent(row: JobRow | undefined, holder: Holder): Decision<SentAnswer> {
  if (!isHeldBy(row, holder)) return lost(row);
  // Only the holder writes SENT, so this is our own earlier write, whose response was lost.
  if (row.state === 'SENT') return { answer: { kind: 'sent', claim: row } };
  const write = sending(row);
  return { write, answer: { kind: 'sent', claim: write } };
}

function sending(row: Claim): Claim {
  const earlier = row.sentFence === undefined ? {} : { earlierSentFence: row.sentFence };
  return { ...row, ...earlier, state: 'SENT', attempts: row.attempts + 1, sentFence: row.fence };
}

/** Extends the lease, unless the job is lost. */
export const decideRenew = (
  row: JobRow | undefined,
  holder: Holder,
  { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
): Decision<{ readonly kind: 'held'; readonly claim: Claim } | Lost> => {
  if (!isHeldBy(row, holder)) return lost(row);
  const claim = { ...row, leaseUntilMs: Math.max(row.leaseUntilMs, nowMs + leaseMs) };
  return { write: claim, answer: { kind: 'held', claim } };
};

/** Records that the holder stored a part of the job's work: earlier deaths no longer count against the job. */
export function decideProgress(
  row: JobRow | undefined,
  holder: Holder,
): Decision<{ readonly kind: 'held'; readonly claim: Claim } | Lost> {
  if (!isHeldBy(row, holder)) return lost(row);
  const { deathsAlone: _, isAlone: __, ...known } = row;
  const claim = { ...known, takeovers: 0 };
  return { write: claim, answer: { kind: 'held', claim } };
}

export type ReleaseOptions = {
  /** Whether a request was sent that was not executed, or may be repeated. Default: false. */
  readonly requestSent?: boolean;
  /**
   * What the delivery counts as: an attempt, a try that executed nothing, or neither, because it only waited.
   * Default: `nothing`.
   */
  readonly counts?: 'attempt' | 'try' | 'nothing';
};

/** Releases a job, and withdraws its send if it was not executed. */
export function decideRelease(
  row: JobRow | undefined,
  holder: Holder & Partial<JobRequest>,
  { requestSent = false, counts = 'nothing', nowMs }: ReleaseOptions & { readonly nowMs: number },
): Decision<{ readonly kind: 'released'; readonly row: JobRow } | CalledUnknown | Lost> {
  // The claim got no response, and may be stored later. Rewriting the current row changes its token, so the late
  // claim fails.
  if (row === undefined || row.fence < holder.fence) {
    const { id, type = '', contentHash = '', sender = '' } = holder;
    const write = row ?? { ...blankRow(id, nowMs), type, contentHash, sender };
    return { write, answer: { kind: 'released', row: write } };
  }
  if (!isOf(row, holder)) return lost(row);
  if (row.state === 'CLAIMED' && row.leaseUntilMs === undefined) return { answer: { kind: 'released', row } };
  const isOnlySend = row.sentFence === holder.fence && row.earlierSentFence === undefined;
  // `runsAgain`: another worker found the proof that an earlier try of this one staged, and the job's message may
  // no longer exist.
  if ((row.state === 'UNKNOWN' && isOnlySend && !requestSent) || runsAgain(row))
    return { answer: { kind: 'called-unknown' } };
  if (!isHeldBy(row, holder)) return lost(row);
  const isSent = row.state === 'SENT';
  const isCounted = isSent && requestSent && counts !== 'nothing';
  const tries = counts === 'try' ? { unsentTries: (row.unsentTries ?? 0) + 1 } : {};
  const unsent = counts === 'try' && isCounted ? { unsentAttempts: (row.unsentAttempts ?? 0) + 1 } : {};
  const attempts = row.attempts - (isSent && !isCounted ? 1 : 0);
  // This worker survived, so the deaths before it were not consecutive. Otherwise, a job that waits for days would be
  // blamed for unrelated deaths.
  const { deathsAlone: _, isAlone: __, ...free } = withoutLease(isSent ? withoutSend(row) : row);
  const write: JobRow = { ...free, ...tries, ...unsent, state: 'CLAIMED', attempts };
  return { write, answer: { kind: 'released', row: write } };
}

type EndAnswer = { readonly kind: 'ended'; readonly row: EndedJobRow } | CalledUnknown | Lost;

/** Ends a job with the outcome that its holder reports. */
export function decideEnd(
  row: JobRow | undefined,
  holder: Holder,
  { outcome, nowMs }: { readonly outcome: Outcome; readonly nowMs: number },
): Decision<EndAnswer> {
  if (isHeldBy(row, holder)) return ended(row, outcome, nowMs);
  if (row === undefined || !hasEnded(row)) return lost(row);
  const isSender = row.sentFence === holder.fence;
  if ((isSender || row.fence === holder.fence) && isDeepStrictEqual(row.outcome, outcome))
    return { answer: { kind: 'ended', row } };
  return row.state === 'UNKNOWN' && isSender && outcome.status === 'done'
    ? { answer: { kind: 'called-unknown' } }
    : lost(row);
}

const isOf = (row: JobRow | undefined, { fence, by }: Holder): row is JobRow =>
  row !== undefined && row.fence === fence && row.by === by;

// False for an ended job, since its row has no lease.
const isHeldBy = (row: JobRow | undefined, holder: Holder): row is Claim =>
  isOf(row, holder) && row.leaseUntilMs !== undefined;

const lost = (row: JobRow | undefined): { readonly answer: Lost } => ({ answer: { kind: 'lost', row } });

function claimed(
  { by: _, isAlone: __, ...row }: JobRow,
  { by, leaseMs, nowMs, sends = false, isAlone = false }: ClaimFacts,
): Decision<ClaimAnswer> {
  const own = by === undefined ? {} : { by };
  const alone = isAlone ? { isAlone } : {};
  const claim: Claim = { ...row, ...own, ...alone, state: 'CLAIMED', leaseUntilMs: nowMs + leaseMs };
  const write = sends ? sending(claim) : claim;
  return { write, answer: { kind: 'claimed', claim: write } };
}

function ended(row: JobRow, outcome: Outcome, nowMs: number) {
  const write = endOf(row, outcome, nowMs);
  return { write, answer: { kind: 'ended', row: write } } as const;
}

const withoutSend = ({ sentFence: _, earlierSentFence, ...row }: JobRow): JobRow =>
  earlierSentFence === undefined ? row : { ...row, sentFence: earlierSentFence };

/** Whether a job runs again by itself: it ended as unknown, but was never sent, and was not cancelled since. */
export const runsAgain = (row: JobRow): row is EndedJobRow =>
  row.state === 'FAILED' && row.outcome !== undefined && isNeverSent(row.outcome) && !isCancelled(row);

function opened({ outcome: _, finishedAt, ...row }: EndedJobRow): JobRow {
  return { ...row, state: 'CLAIMED', earlierFinishedAt: finishedAt };
}

const firstClaim = (request: JobRequest, nowMs: number): JobRow => ({
  ...blankRow(request.id, nowMs),
  ...factsOf(request),
  fence: 1,
  startedAt: nowMs,
});

const factsOf = ({ type, contentHash, sender }: JobRequest) => ({ type, contentHash, sender });

const answerLost = failure(
  'unknown',
  'answer-lost',
  'the request may have left, but its worker died or was suspended before it recorded the outcome',
);

/**
 * The proof of a worker that was delayed before it sent its request. The worker that ended the job as unknown
 * could not know about the delay.
 */
export const neverSent = failure(
  'failed',
  'never-sent',
  'the worker was delayed before it sent the request, and in the meantime the job ended as unknown: it runs again',
);

const isNeverSent = ({ error }: Outcome): boolean => error?.kind === neverSent.error?.kind;

/** Only for jobs that may be repeated: a job that may not ends as unknown when a worker dies after its send. */
const workersDied = (deaths: number): Outcome =>
  failure(
    'failed',
    'workers-died',
    `${deaths} workers died one after another while they ran this job and nothing else`,
  );

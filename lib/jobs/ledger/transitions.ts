import { isDeepStrictEqual } from 'node:util';
import {
  CANCELLED,
  type Claim,
  type EndedJobRow,
  type EndState,
  type Holder,
  hasEnded,
  isCancelled,
  type JobError,
  type JobRow,
  type Outcome,
} from './job-row.ts';
import type {
  CancelAnswer,
  CancelOptions,
  ClaimAnswer,
  ClaimOptions,
  EndAnswer,
  HeldAnswer,
  JobRequest,
  Lost,
  ReleaseAnswer,
  ReleaseOptions,
  ReopenAnswer,
  ReopenOptions,
  Resolution,
  ResolveAnswer,
  SentAnswer,
  SentBy,
} from './ledger.ts';

/*
 * from                        to                by whom                                                      step
 * --------------------------  ----------------  -----------------------------------------------------------------
 * no row                      CLAIMED           anyone                                                      claim
 * no row                      CLAIMED, no lease anyone                                        announce, release
 * no row; CLAIMED             SENT, fence+1     anyone, where they may be claimed                          claim
 * no row                      FAILED            anyone; error `cancelled`                                  cancel
 * CLAIMED, no lease           CLAIMED, fence+1  anyone                                                      claim
 * CLAIMED, lease expired      CLAIMED, fence+1  anyone; takeovers+1, at most 10                             claim
 * CLAIMED, lease expired      FAILED            anyone, after 10 takeovers; error `workers-died`            claim
 *   … and sent before         UNKNOWN           anyone, after 10 takeovers; error `workers-died`            claim
 * CLAIMED, sent before,       UNKNOWN           anyone who may not repeat; error `answer-lost`              claim
 *   no lease or expired
 * CLAIMED                     FAILED            anyone; error `cancelled`                                  cancel
 * CLAIMED, SENT; has a lease  the same          anyone, where the job stops between sends; cancelled       cancel
 * CLAIMED, lease lasts        SENT              the holder; attempts+1                                       sent
 * CLAIMED with a lease        CLAIMED           the holder: longer lease, or none               renew, release
 * CLAIMED with a lease        an end            the holder                                                    end
 * SENT                        SENT              the holder: longer lease                                    renew
 * SENT                        CLAIMED, no lease the holder, on proof; attempts-1 if it never left        release
 * SENT                        an end            the holder                                                    end
 * SENT, lease expired         UNKNOWN           anyone; error `answer-lost`                                 claim
 * SENT, lease expired         CLAIMED, fence+1  anyone who may repeat; takeovers+1, at most 10              claim
 * SENT, lease expired         UNKNOWN           anyone, after 10 takeovers; error `workers-died`            claim
 * UNKNOWN                     FAILED            anyone who finds the staged proof that it never left;       claim
 *                                               error `never-sent`
 * SENT, lease expired         an end            anyone who finds the outcome that the holder staged         claim
 * UNKNOWN; CLAIMED, sent      DONE              anyone who finds the outcome that the fence that            claim
 *   before, no lease or expired                 sent staged
 * UNKNOWN                     DONE, FAILED      a person; a note, or error `resolved`                     resolve
 * FAILED, never sent, and     CLAIMED, fence+1  anyone                                                      claim
 *   not cancelled
 * FAILED                      FAILED            a person; cancelled                                        cancel
 * FAILED, and not cancelled   CLAIMED, no lease anyone; attempts, tries and takeovers 0, fence+1           reopen
 * FAILED, cancelled           CLAIMED, no lease a person who names it; the same                            reopen
 * an end                      CLAIMED, no lease anyone, where a repeat does no harm; the same              reopen
 *
 * "Sent before" means under an earlier fence, and not taken back. An end is DONE, FAILED or UNKNOWN. The holder is
 * the worker that claimed with the row's fence, as long as the row has a lease: even an expired one, since nobody has
 * taken the job over yet. Every other step is refused, and changes nothing.
 */

/** What to write in place of the row, if anything, and what to return once that is stored. */
export type Decision<Answer> = { readonly write?: JobRow; readonly answer: Answer };

/** What a claim is decided by, besides the row. */
export type ClaimFacts = Pick<ClaimOptions, 'by' | 'leaseMs' | 'mayRepeat' | 'sends'> & {
  readonly nowMs: number;
  /** What was found of the last send of a job that nobody has; undefined if nobody has looked. */
  readonly late?: LateOutcome | undefined;
};

/** A send, and its outcome if it is known although the ledger never heard of it. */
export type LateOutcome = { readonly sent: SentBy; readonly outcome: Outcome | undefined };

/** The outcome of this send may be known, although the ledger never heard of it. */
type LookAnswer = { readonly kind: 'look'; readonly sent: SentBy };

const MOST_TAKEOVERS = 10;

export function decideClaim(
  row: JobRow | undefined,
  request: JobRequest,
  facts: ClaimFacts,
): Decision<ClaimAnswer | LookAnswer> {
  const { by, mayRepeat = false, nowMs, late } = facts;
  if (row === undefined) return claimed(firstClaim(request, nowMs), facts);
  if ((row.contentHash ?? request.contentHash) !== request.contentHash)
    return { answer: { kind: 'other-content' } };
  // A row that `cancel` created does not know its message.
  const known: JobRow = { ...factsOf(request), ...(runsAgain(row) ? opened(row) : row) };
  if (hasEnded(known) && known.state !== 'UNKNOWN') return { answer: { kind: 'ended', row: known } };
  const { leaseUntilMs: untilMs, fence, takeovers } = known;
  // Its own claim, whose response was lost.
  if (facts.sends && by !== undefined && isHeldBy(known, { id: known.id, fence, by }))
    return { answer: { kind: 'claimed', claim: known } };
  const next: JobRow = { ...known, state: 'CLAIMED', fence: fence + 1, startedAt: known.startedAt ?? nowMs };
  if (untilMs !== undefined && nowMs < untilMs) return { answer: { kind: 'busy', untilMs } };
  const asFound = endAsFound(known, late, nowMs);
  if (asFound !== undefined) return asFound;
  if (hasEnded(known)) return { answer: { kind: 'ended', row: known } };
  if (known.sentFence !== undefined && !mayRepeat) return ended(known, answerLost, nowMs);
  if (untilMs === undefined) return claimed(next, facts);
  if (takeovers >= MOST_TAKEOVERS) return ended(known, workersDied(known), nowMs);
  return claimed({ ...next, takeovers: takeovers + 1 }, facts);
}

/** Ends a job that nobody has by the late outcome of its send, if there is one; undefined: it is as it seems. */
function endAsFound(
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

export const decideAnnounce = (
  row: JobRow | undefined,
  request: JobRequest,
  nowMs: number,
): Decision<undefined> =>
  row === undefined
    ? { write: { ...blankRow(request.id, nowMs), ...factsOf(request) }, answer: undefined }
    : { answer: undefined };

export function decideSent(
  row: JobRow | undefined,
  holder: Holder,
  { mustLastMs, nowMs }: { readonly mustLastMs: number; readonly nowMs: number },
): Decision<SentAnswer> {
  if (!isHeldBy(row, holder)) return lost(row);
  const leftMs = row.leaseUntilMs - nowMs;
  if (leftMs <= 0 || leftMs < mustLastMs) return { answer: { kind: 'too-late', leftMs } };
  // Only its holder writes SENT: it is this send, although its response was lost and a renewal may have followed it.
  if (row.state === 'SENT') return { answer: { kind: 'sent', claim: row } };
  const write = sending(row);
  return { write, answer: { kind: 'sent', claim: write } };
}

/** Whether a request may leave once SENT is stored: that took time, and what counts is what is left of the lease then. */
export function sentInTime(
  claim: Claim,
  { mustLastMs, nowMs }: { readonly mustLastMs: number; readonly nowMs: number },
): SentAnswer {
  const leftMs = claim.leaseUntilMs - nowMs;
  return leftMs >= mustLastMs ? { kind: 'sent', claim } : { kind: 'too-late', leftMs };
}

function sending(row: Claim): Claim {
  const earlier = row.sentFence === undefined ? {} : { earlierSentFence: row.sentFence };
  return { ...row, ...earlier, state: 'SENT', attempts: row.attempts + 1, sentFence: row.fence };
}

export const decideRenew = (
  row: JobRow | undefined,
  holder: Holder,
  { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
): Decision<HeldAnswer> =>
  isHeldBy(row, holder)
    ? held({ ...row, leaseUntilMs: Math.max(row.leaseUntilMs, nowMs + leaseMs) })
    : lost(row);

export function decideRelease(
  row: JobRow | undefined,
  holder: Holder & Partial<JobRequest>,
  { hasLeft = false, counts = 'nothing', nowMs }: ReleaseOptions & { readonly nowMs: number },
): Decision<ReleaseAnswer> {
  // Its claim got no response, and may be stored yet: what that would replace is written again, so it meets another one.
  if (row === undefined || row.fence < holder.fence) {
    const { id, type = '', contentHash = '', sender = '' } = holder;
    const write = row ?? { ...blankRow(id, nowMs), type, contentHash, sender };
    return { write, answer: { kind: 'released', row: write } };
  }
  if (isOf(row, holder) && isFree(row)) return { answer: { kind: 'released', row } };
  const isOnlySend =
    isOf(row, holder) && row.sentFence === holder.fence && row.earlierSentFence === undefined;
  const isUnknown = isOnlySend && !hasLeft && row.state === 'UNKNOWN';
  // Whoever found the proof, which was staged by a try before this one, may have had a message that is gone.
  const isProved = isOf(row, holder) && runsAgain(row);
  if (isUnknown || isProved) return { answer: { kind: 'called-unknown' } };
  if (!isHeldBy(row, holder)) return lost(row);
  const isSent = row.state === 'SENT';
  const isCounted = isSent && hasLeft && counts !== 'nothing';
  const tries = counts === 'try' ? { unsentTries: (row.unsentTries ?? 0) + 1 } : {};
  const unsent = counts === 'try' && isCounted ? { unsentAttempts: (row.unsentAttempts ?? 0) + 1 } : {};
  const attempts = row.attempts - (isSent && !isCounted ? 1 : 0);
  const free = withoutLease(isSent ? withoutSend(row) : row);
  const write: JobRow = { ...free, ...tries, ...unsent, state: 'CLAIMED', attempts };
  return { write, answer: { kind: 'released', row: write } };
}

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

export function decideCancel(
  row: JobRow | undefined,
  { id, nowMs, stops }: CancelOptions & { readonly id: string; readonly nowMs: number },
): Decision<CancelAnswer> {
  if (row && hasEnded(row)) {
    if (row.state !== 'FAILED' || isCancelled(row)) return { answer: { kind: 'ended', row } };
    const stays: EndedJobRow = { ...row, cancelled: true };
    return { write: stays, answer: { kind: 'cancelled', row: stays } };
  }
  const isHeld = row?.leaseUntilMs !== undefined && nowMs < row.leaseUntilMs;
  if (row && (row.state === 'SENT' || isHeld) && row.type !== undefined && stops?.(row.type)) {
    const stopping: JobRow = { ...row, cancelled: true };
    return { write: stopping, answer: { kind: 'stopping', row: stopping } };
  }
  if (row?.state === 'SENT') return { answer: { kind: 'sent', row } };
  const write = endOf(row ?? blankRow(id, nowMs), cancelled(row), nowMs);
  return { write, answer: { kind: 'cancelled', row: write } };
}

export function decideReopen(row: JobRow | undefined, options: ReopenOptions): Decision<ReopenAnswer> {
  if (row === undefined || !mayReopen(row, options)) return { answer: { kind: 'refused', row } };
  const { outcome: _, startedAt: _s, finishedAt, sentFence: _n, earlierSentFence: _e, ...known } = row;
  const { unsentAttempts: _a, unsentTries: _t, cancelled: _c, contentHash, ...rest } = known;
  const content = options.anyContent || contentHash === undefined ? {} : { contentHash };
  const earlier = finishedAt === undefined ? {} : { earlierFinishedAt: finishedAt };
  const fence = row.fence + 1;
  const write: JobRow = {
    ...rest,
    ...content,
    ...earlier,
    state: 'CLAIMED',
    fence,
    attempts: 0,
    takeovers: 0,
  };
  return { write, answer: { kind: 'reopened', row: write } };
}

const mayReopen = (row: JobRow, { isNamed = false, anyEnd = false }: ReopenOptions): boolean =>
  anyEnd ? hasEnded(row) : row.state === 'FAILED' && (isNamed || !isCancelled(row));

export function decideResolve(
  row: JobRow | undefined,
  { status, note, nowMs }: Resolution & { readonly nowMs: number },
): Decision<ResolveAnswer> {
  if (row === undefined || !hasEnded(row)) return { answer: { kind: 'refused', row } };
  const { error, ...known } = row.outcome;
  // Said again, so that a command that died before it stored the result can be repeated.
  const before = error?.kind === 'resolved' ? error.message : known.note;
  if (row.outcome.status === status && before === note) return { answer: { kind: 'resolved', row } };
  if (row.state !== 'UNKNOWN') return { answer: { kind: 'refused', row } };
  const said = status === 'done' ? { note } : { error: { kind: 'resolved', message: note } };
  const write = endOf(row, { ...known, status, ...said }, nowMs);
  return { write, answer: { kind: 'resolved', row: write } };
}

const isOf = (row: JobRow | undefined, { fence, by }: Holder): row is JobRow =>
  row !== undefined && row.fence === fence && row.by === by;

// The row of an ended job has no lease.
const isHeldBy = (row: JobRow | undefined, holder: Holder): row is Claim =>
  isOf(row, holder) && row.leaseUntilMs !== undefined;

const isFree = (row: JobRow): boolean => row.state === 'CLAIMED' && row.leaseUntilMs === undefined;

const lost = (row: JobRow | undefined): { readonly answer: Lost } => ({ answer: { kind: 'lost', row } });

const held = (write: Claim): Decision<HeldAnswer> => ({ write, answer: { kind: 'held', claim: write } });

function claimed(
  { by: _, ...row }: JobRow,
  { by, leaseMs, nowMs, sends = false }: ClaimFacts,
): Decision<ClaimAnswer> {
  const own = by === undefined ? {} : { by };
  const claim: Claim = { ...row, ...own, state: 'CLAIMED', leaseUntilMs: nowMs + leaseMs };
  const write = sends ? sending(claim) : claim;
  return { write, answer: { kind: 'claimed', claim: write } };
}

function ended(row: JobRow, outcome: Outcome, nowMs: number) {
  const write = endOf(row, outcome, nowMs);
  return { write, answer: { kind: 'ended', row: write } } as const;
}

const endStates = { done: 'DONE', failed: 'FAILED', unknown: 'UNKNOWN' } as const satisfies Record<
  Outcome['status'],
  EndState
>;

/** Of two ends of one job the later one wins, so it gets the later time, whatever the clock says. */
function endOf(row: JobRow, outcome: Outcome, nowMs: number): EndedJobRow {
  const { earlierFinishedAt: _, cancelled, ...rest } = withoutLease(row);
  const before = row.finishedAt ?? row.earlierFinishedAt ?? Number.NEGATIVE_INFINITY;
  const mark = cancelled && outcome.status !== 'done' ? { cancelled } : {};
  const finishedAt = Math.max(nowMs, before + 1);
  return { ...rest, ...mark, state: endStates[outcome.status], finishedAt, outcome };
}

const withoutLease = ({ leaseUntilMs: _, ...row }: JobRow): JobRow => row;

const withoutSend = ({ sentFence: _, earlierSentFence, ...row }: JobRow): JobRow =>
  earlierSentFence === undefined ? row : { ...row, sentFence: earlierSentFence };

/** Whether a job runs again by itself: it was called unknown, was never sent, and nobody has cancelled it since. */
export const runsAgain = (row: JobRow): row is EndedJobRow =>
  row.state === 'FAILED' && row.outcome !== undefined && isNeverSent(row.outcome) && !isCancelled(row);

function opened({ outcome: _, finishedAt, ...row }: EndedJobRow): JobRow {
  return { ...row, state: 'CLAIMED', earlierFinishedAt: finishedAt };
}

const blankRow = (id: string, nowMs: number): JobRow => ({
  id,
  state: 'CLAIMED',
  fence: 0,
  attempts: 0,
  takeovers: 0,
  dt: new Date(nowMs).toISOString().slice(0, 10),
  createdAt: nowMs,
});

const firstClaim = (request: JobRequest, nowMs: number): JobRow => ({
  ...blankRow(request.id, nowMs),
  ...factsOf(request),
  fence: 1,
  startedAt: nowMs,
});

const factsOf = ({ type, contentHash, sender }: JobRequest) => ({ type, contentHash, sender });

function failure(status: 'failed' | 'unknown', kind: string, message: string): Outcome {
  const error: JobError = { kind, message };
  return { status, error };
}

const cancelled = (row: JobRow | undefined): Outcome =>
  failure(
    'failed',
    'cancelled',
    `${CANCELLED} before it was sent${row?.sentFence === undefined ? '' : ' again'}`,
  );

const answerLost = failure(
  'unknown',
  'answer-lost',
  'the request may have left, and the worker died, or stood still, before it recorded the outcome',
);

/** The proof of a worker that was held up before its request left; whoever called the job unknown could not know. */
export const neverSent = failure(
  'failed',
  'never-sent',
  'the worker was held up before the request left, and the job was called unknown: it runs again',
);

const isNeverSent = ({ error }: Outcome): boolean => error?.kind === neverSent.error?.kind;

const workersDied = ({ takeovers, sentFence }: JobRow): Outcome =>
  failure(
    sentFence === undefined ? 'failed' : 'unknown',
    'workers-died',
    `${takeovers + 1} workers died while they had the job`,
  );

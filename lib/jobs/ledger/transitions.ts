import { isDeepStrictEqual } from 'node:util';
import {
  type Claim,
  type EndedJob,
  type EndState,
  type Holder,
  hasEnded,
  type Job,
  type JobError,
  type JobState,
  type Outcome,
} from './job.ts';
import type {
  CancelAnswer,
  ClaimAnswer,
  ClaimOptions,
  EndAnswer,
  HeldAnswer,
  JobRequest,
  Lost,
  ReleaseAnswer,
  ReopenAnswer,
  SentAnswer,
} from './ledger.ts';

/*
 * from                        to                by whom
 * --------------------------  ----------------  -----------------------------------------------------------------
 * no row                      CLAIMED           anyone                                                      claim
 * no row                      FAILED            anyone; error `cancelled`                                  cancel
 * CLAIMED, no lease           CLAIMED, fence+1  anyone                                                      claim
 * CLAIMED, lease ran out      CLAIMED, fence+1  anyone; takeovers+1, at most 10                             claim
 * CLAIMED, lease ran out      FAILED            anyone, after 10 takeovers; error `workers-died`            claim
 *   … and sent before         UNKNOWN           anyone, after 10 takeovers; error `workers-died`            claim
 * CLAIMED, sent before,       UNKNOWN           anyone who may not repeat; error `answer-lost`              claim
 *   lease none or ran out
 * CLAIMED                     FAILED            anyone; error `cancelled`                                  cancel
 * CLAIMED, lease lasts        SENT              the holder; attempts+1                                       sent
 * CLAIMED with a lease        CLAIMED           the holder: longer lease, or none      renew, notSent, release
 * CLAIMED with a lease        an end            the holder                                                    end
 * SENT                        SENT              the holder: longer lease                                    renew
 * SENT                        CLAIMED           the holder, on proof; attempts-1 if it never left         notSent
 * SENT                        an end            the holder                                                    end
 * SENT, lease ran out         UNKNOWN           anyone; error `answer-lost`                                 claim
 * SENT, lease ran out         CLAIMED, fence+1  anyone who may repeat; takeovers+1, at most 10              claim
 * SENT, lease ran out         UNKNOWN           anyone, after 10 takeovers; error `workers-died`            claim
 * UNKNOWN                     DONE              the fence that sent                                           end
 * FAILED                      CLAIMED, no lease anyone; attempts and takeovers 0, fence+1                  reopen
 *
 * "Sent before": under an earlier fence, and nobody took that back. An end is DONE, FAILED or UNKNOWN. The holder is
 * who claimed with the row's fence, as long as the row has a lease, even one that ran out: nobody has taken it over
 * yet. Whatever is not here is refused, and changes nothing.
 */

/** What to write in place of the row, if anything, and what to answer once it is stored. */
export type Decision<Answer> = { readonly write?: Job; readonly answer: Answer };

export const mostTakeovers = 10;

export const decideClaim = (
  job: Job | undefined,
  request: JobRequest,
  { leaseMs, mayRepeat = false, nowMs }: ClaimOptions & { readonly nowMs: number },
): Decision<ClaimAnswer> => {
  if (job === undefined) return claimed(firstClaim(request, nowMs), nowMs + leaseMs);
  if ((job.contentHash ?? request.contentHash) !== request.contentHash)
    return { answer: { kind: 'other-content' } };
  // A row that was made by `cancel` does not know its message.
  const known: Job = { ...factsOf(request), ...job };
  if (hasEnded(known)) return { answer: { kind: 'ended', job: known } };
  const { leaseUntilMs: untilMs, fence, takeovers } = known;
  const next: Job = { ...known, state: 'CLAIMED', fence: fence + 1, startedAt: known.startedAt ?? nowMs };
  if (untilMs !== undefined && nowMs < untilMs) return { answer: { kind: 'busy', untilMs } };
  if (known.sentFence !== undefined && !mayRepeat) return ended(known, answerLost, nowMs);
  if (untilMs === undefined) return claimed(next, nowMs + leaseMs);
  if (takeovers >= mostTakeovers) return ended(known, workersDied(known), nowMs);
  return claimed({ ...next, takeovers: takeovers + 1 }, nowMs + leaseMs);
};

export const decideSent = (
  job: Job | undefined,
  holder: Holder,
  { mustLastMs, nowMs }: { readonly mustLastMs: number; readonly nowMs: number },
): Decision<SentAnswer> => {
  if (!isHeldBy(job, holder)) return lost(job);
  if (job.state === 'SENT') return { answer: { kind: 'already-sent', claim: job } };
  const leftMs = job.leaseUntilMs - nowMs;
  if (leftMs <= 0 || leftMs < mustLastMs) return { answer: { kind: 'too-late', leftMs } };
  const earlier = job.sentFence === undefined ? {} : { earlierSentFence: job.sentFence };
  const write: Claim = {
    ...job,
    ...earlier,
    state: 'SENT',
    attempts: job.attempts + 1,
    sentFence: job.fence,
  };
  return { write, answer: { kind: 'sent', claim: write } };
};

/** A row that is CLAIMED already is written again: a `sent` that is still under way can then no longer be made. */
export const decideNotSent = (
  job: Job | undefined,
  holder: Holder,
  { wasTried }: { readonly wasTried: boolean },
): Decision<HeldAnswer> => {
  if (!isHeldBy(job, holder)) return lost(job);
  if (job.state === 'CLAIMED') return held(job);
  const { sentFence: _, earlierSentFence, ...rest } = job;
  const sentFence = earlierSentFence === undefined ? {} : { sentFence: earlierSentFence };
  return held({ ...rest, ...sentFence, state: 'CLAIMED', attempts: job.attempts - (wasTried ? 0 : 1) });
};

export const decideRenew = (
  job: Job | undefined,
  holder: Holder,
  { leaseMs, nowMs }: { readonly leaseMs: number; readonly nowMs: number },
): Decision<HeldAnswer> =>
  isHeldBy(job, holder)
    ? held({ ...job, leaseUntilMs: Math.max(job.leaseUntilMs, nowMs + leaseMs) })
    : lost(job);

export const decideRelease = (job: Job | undefined, holder: Holder): Decision<ReleaseAnswer> => {
  if (job?.fence === holder.fence && isFree(job)) return { answer: { kind: 'released', job } };
  if (!isHeldBy(job, holder)) return lost(job);
  if (job.state === 'SENT') return { answer: { kind: 'already-sent', claim: job } };
  const write = withoutLease(job);
  return { write, answer: { kind: 'released', job: write } };
};

export const decideEnd = (
  job: Job | undefined,
  holder: Holder,
  { outcome, nowMs }: { readonly outcome: Outcome; readonly nowMs: number },
): Decision<EndAnswer> => {
  if (isHeldBy(job, holder)) return ended(job, outcome, nowMs);
  if (job === undefined || !hasEnded(job)) return lost(job);
  const isSender = job.sentFence === holder.fence;
  if ((isSender || job.fence === holder.fence) && isDeepStrictEqual(job.outcome, outcome))
    return { answer: { kind: 'ended', job } };
  return job.state === 'UNKNOWN' && isSender && outcome.status === 'done'
    ? ended(job, outcome, nowMs)
    : lost(job);
};

export const decideCancel = (
  job: Job | undefined,
  { id, nowMs }: { readonly id: string; readonly nowMs: number },
): Decision<CancelAnswer> => {
  if (job && hasEnded(job)) return { answer: { kind: 'ended', job } };
  if (job?.state === 'SENT') return { answer: { kind: 'sent', job } };
  const write = endOf(job ?? blankJob(id, nowMs), cancelled(job), nowMs);
  return { write, answer: { kind: 'cancelled', job: write } };
};

export const decideReopen = (job: Job | undefined): Decision<ReopenAnswer> => {
  if (job?.state !== 'FAILED') return { answer: { kind: 'refused', job } };
  const { outcome: _, startedAt: _s, finishedAt, sentFence: _n, earlierSentFence: _e, ...rest } = job;
  const earlier = finishedAt === undefined ? {} : { earlierFinishedAt: finishedAt };
  const fence = job.fence + 1;
  const write: Job = { ...rest, ...earlier, state: 'CLAIMED', fence, attempts: 0, takeovers: 0 };
  return { write, answer: { kind: 'reopened', job: write } };
};

// A row that ended has no lease.
const isHeldBy = (job: Job | undefined, { fence }: Holder): job is Claim =>
  job !== undefined && job.fence === fence && job.leaseUntilMs !== undefined;

const isFree = (job: Job): boolean => job.state === 'CLAIMED' && job.leaseUntilMs === undefined;

const lost = (job: Job | undefined): { readonly answer: Lost } => ({ answer: { kind: 'lost', job } });

const held = (write: Claim): Decision<HeldAnswer> => ({ write, answer: { kind: 'held', claim: write } });

const claimed = (job: Job, leaseUntilMs: number): Decision<ClaimAnswer> => {
  const write: Claim = { ...job, state: 'CLAIMED', leaseUntilMs };
  return { write, answer: { kind: 'claimed', claim: write } };
};

const ended = (job: Job, outcome: Outcome, nowMs: number) => {
  const write = endOf(job, outcome, nowMs);
  return { write, answer: { kind: 'ended', job: write } } as const;
};

const endStates = { done: 'DONE', failed: 'FAILED', unknown: 'UNKNOWN' } as const satisfies Record<
  Outcome['status'],
  EndState & JobState
>;

/** Of two ends of one job the later one counts, so it has the later time, whatever the clock says. */
const endOf = (job: Job, outcome: Outcome, nowMs: number): EndedJob => {
  const { earlierFinishedAt: _, ...rest } = withoutLease(job);
  const before = job.finishedAt ?? job.earlierFinishedAt ?? Number.NEGATIVE_INFINITY;
  return { ...rest, state: endStates[outcome.status], finishedAt: Math.max(nowMs, before + 1), outcome };
};

const withoutLease = ({ leaseUntilMs: _, ...job }: Job): Job => job;

const blankJob = (id: string, nowMs: number): Job => ({
  id,
  state: 'CLAIMED',
  fence: 0,
  attempts: 0,
  takeovers: 0,
  dt: new Date(nowMs).toISOString().slice(0, 10),
  createdAt: nowMs,
});

const firstClaim = (request: JobRequest, nowMs: number): Job => ({
  ...blankJob(request.id, nowMs),
  ...factsOf(request),
  fence: 1,
  startedAt: nowMs,
});

const factsOf = ({ type, contentHash, sender }: JobRequest) => ({ type, contentHash, sender });

const failure = (status: 'failed' | 'unknown', kind: string, message: string): Outcome => {
  const error: JobError = { kind, message };
  return { status, error };
};

const cancelled = (job: Job | undefined): Outcome =>
  failure(
    'failed',
    'cancelled',
    `the job was cancelled before it was sent${job?.sentFence === undefined ? '' : ' again'}`,
  );

const answerLost = failure(
  'unknown',
  'answer-lost',
  'the request was sent, and the worker died before it told how that ended',
);

const workersDied = ({ takeovers, sentFence }: Job): Outcome =>
  failure(
    sentFence === undefined ? 'failed' : 'unknown',
    'workers-died',
    `${takeovers + 1} workers died while they had the job`,
  );

import {
  blankRow,
  CANCELLED,
  type EndedJobRow,
  endOf,
  failure,
  hasEnded,
  isCancelled,
  isPruned,
  isSettled,
  type JobRow,
  wasExecuted,
} from './job-row.ts';
import { type Decision, runsAgain } from './transitions.ts';

/* The steps of people, as the table in `transitions.ts` lists them. */

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
  const before = `${CANCELLED} before it was sent${row?.sentFence === undefined ? '' : ' again'}`;
  const write = endOf(row ?? blankRow(id, nowMs), failure('failed', 'cancelled', before), nowMs);
  return { write, answer: { kind: 'cancelled', row: write } };
}

export type ReopenOptions = {
  /** Reopens the job though it was cancelled: a person named it. Default: false. */
  readonly isNamed?: boolean;
  /** Reopens the job though the platform executed it: a person asked for all such jobs. Default: false. */
  readonly executed?: boolean;
  /** Reopens the job however it ended, for a message that may have other content, since a repeat does no harm. Default: false. */
  readonly anyEnd?: boolean;
};

/** `refused`: the job has not failed, was cancelled or executed and not named, or does not exist. */
export function decideReopen(
  row: JobRow | undefined,
  options: ReopenOptions,
): Decision<
  | { readonly kind: 'reopened'; readonly row: JobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined }
> {
  if (row === undefined || !mayReopen(row, options)) return { answer: { kind: 'refused', row } };
  const { outcome: _, startedAt: _s, finishedAt, sentFence: _n, earlierSentFence: _e, ...known } = row;
  const {
    unsentAttempts: _a,
    unsentTries: _t,
    cancelled: _c,
    deathsAlone: _d,
    isAlone: _i,
    ...given
  } = known;
  const { contentHash, ...rest } = given;
  const content = options.anyEnd || contentHash === undefined ? {} : { contentHash };
  const earlier = finishedAt === undefined ? {} : { earlierFinishedAt: finishedAt };
  const opened = { state: 'CLAIMED', fence: row.fence + 1, attempts: 0, takeovers: 0 } as const;
  const write: JobRow = { ...rest, ...content, ...earlier, ...opened };
  return { write, answer: { kind: 'reopened', row: write } };
}

export function mayReopen(row: JobRow, options: ReopenOptions): boolean {
  const { isNamed = false, executed = false, anyEnd = false } = options;
  if (anyEnd) return hasEnded(row);
  const isFree = !isCancelled(row) && (executed || !wasExecuted(row.outcome?.error));
  return row.state === 'FAILED' && (isNamed || isFree);
}

export type Resolution = { readonly status: 'done' | 'failed'; readonly note: string };

export function decideResolve(
  row: JobRow | undefined,
  { status, note, nowMs }: Resolution & { readonly nowMs: number },
): Decision<
  | { readonly kind: 'resolved'; readonly row: EndedJobRow }
  | { readonly kind: 'refused'; readonly row: JobRow | undefined }
> {
  // Said again, whatever the note, so that a command that died before it stored the result can be repeated.
  if (row !== undefined && isSettled(row) && row.outcome.status === status)
    return { answer: { kind: 'resolved', row } };
  if (row?.state !== 'UNKNOWN' || !hasEnded(row)) return { answer: { kind: 'refused', row } };
  const { error: _, ...known } = row.outcome;
  const said = status === 'done' ? { note } : { error: { kind: 'resolved', message: note } };
  const write = { ...endOf(row, { ...known, status, ...said }, nowMs), earlierFinishedAt: row.finishedAt };
  return { write, answer: { kind: 'resolved', row: write } };
}

/** Whether a row may be pruned: its job is done or failed for good, and its message was seen, so that it has a result. */
export const mayPrune = (row: JobRow): row is EndedJobRow & { readonly type: string } =>
  hasEnded(row) && row.state !== 'UNKNOWN' && row.type !== undefined && !isPruned(row) && !runsAgain(row);

/** `result`: the key of the stored result of the end at `finishedAt`. A row that ended otherwise meanwhile is left. */
export function decidePrune(
  row: JobRow | undefined,
  { finishedAt, result }: { readonly finishedAt: number; readonly result: string },
): Decision<boolean> {
  if (row === undefined || !mayPrune(row) || row.finishedAt !== finishedAt) return { answer: false };
  const { response: _, staged: __, error, ...ended } = row.outcome;
  const failed = error === undefined ? {} : { error: { kind: error.kind, message: error.message } };
  return { write: { ...row, outcome: { ...ended, ...failed, result } }, answer: true };
}

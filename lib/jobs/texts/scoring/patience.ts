/** The facts about a text whose turn at the pace is further off than a call may wait. Times in epoch milliseconds. */
export type LongWait = {
  readonly waitMs: number;
  readonly nowMs: number;
  readonly deadlineMs: number | undefined;
  /** Whether a call of the chunk has left since this text was last refused, or since the chunk began. */
  readonly hasProgressed: boolean;
};

/** The longest wait that a worker sits out. */
const LONGEST_MS = 120_000;

/**
 * Whether a chunk waits where it is, or goes back to the queue. As long as its calls leave, it waits: going back and
 * coming again costs receives and writes, and another chunk in its place would wait no less.
 */
export const waitsHere = ({ waitMs, nowMs, deadlineMs, hasProgressed }: LongWait): boolean =>
  hasProgressed && waitMs <= LONGEST_MS && nowMs + waitMs < (deadlineMs ?? Number.POSITIVE_INFINITY);

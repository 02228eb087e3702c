import { BLOCK_MS, LATE_MS } from './budget.ts';

/** How late a process is: a call uses its slot only if the timer woke it, or the table responded, in time. */
export type Lateness = {
  /** How long after its time a slot may still be used: a process whose timers are always late would miss every slot. */
  readonly lateMs: number;
  /** How much further ahead to reserve: responses may arrive too late for the first slot. */
  readonly aheadMs: number;
};

/** What a call waited for when its slot passed. */
export type WaitedFor = 'response' | 'timer';

/** The lateness of a process that has missed nothing. */
export const PUNCTUAL: Lateness = { lateMs: LATE_MS, aheadMs: 0 };

const MOST_AHEAD_MS = 1_000;

/** A miss multiplies the limit that was too short by `MORE`; a hit multiplies both by `LESS`. */
const MORE = 2;
const LESS = 0.9;

/** The lateness after a slot passed while a call waited for its timer or for a response from the table. */
export const afterMiss = ({ lateMs, aheadMs }: Lateness, waitedFor: WaitedFor): Lateness =>
  waitedFor === 'timer'
    ? { lateMs: Math.min(BLOCK_MS, lateMs * MORE), aheadMs }
    : { lateMs, aheadMs: Math.min(MOST_AHEAD_MS, Math.max(LATE_MS, aheadMs * MORE)) };

/** The lateness after a call left in its slot. */
export const afterHit = ({ lateMs, aheadMs }: Lateness): Lateness => ({
  lateMs: Math.max(LATE_MS, lateMs * LESS),
  aheadMs: aheadMs * LESS,
});

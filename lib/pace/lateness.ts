import { BLOCK_MS, LATE_MS } from './budget.ts';

/** How late a process is: a slot is used by a call only if its timer woke, or the table responded, in time. */
export type Lateness = {
  /** How long after its time a slot may still be used: a process whose timers are always late would miss them all. */
  readonly lateMs: number;
  /** How much further ahead to ask: responses may come too late for the first slot. */
  readonly aheadMs: number;
};

/** What a call waited for when its slot passed. */
export type WaitedFor = 'response' | 'timer';

/** Of a process that has missed nothing. */
export const PUNCTUAL: Lateness = { lateMs: LATE_MS, aheadMs: 0 };

const MOST_AHEAD_MS = 1_000;

/** By how much a miss raises what was waited for, and a hit lowers both. */
const MORE = 2;
const LESS = 0.9;

/** After a slot passed while a call waited for its timer, or for a response of the table. */
export const afterMiss = ({ lateMs, aheadMs }: Lateness, waitedFor: WaitedFor): Lateness =>
  waitedFor === 'timer'
    ? { lateMs: Math.min(BLOCK_MS, lateMs * MORE), aheadMs }
    : { lateMs, aheadMs: Math.min(MOST_AHEAD_MS, Math.max(LATE_MS, aheadMs * MORE)) };

/** After a call left in its slot. */
export const afterHit = ({ lateMs, aheadMs }: Lateness): Lateness => ({
  lateMs: Math.max(LATE_MS, lateMs * LESS),
  aheadMs: aheadMs * LESS,
});

import { BLOCK_MS, LATE_MS } from './budget.ts';

/** How late a process is: a call uses its slot only if the timer woke it, or the table responded, in time. */
export type Lateness = {
  /**
   * How long after its time a slot may still be used: a process whose timers are always late would miss every slot.
   * The spacing pays for the least, and the end of each block, which is left empty, for any more.
   */
  readonly lateMs: number;
  /** How much further ahead to reserve: responses may arrive too late for the first slot. */
  readonly aheadMs: number;
};

/** What a call waited for when its slot passed. */
export type WaitedFor = 'response' | 'timer';

/** The lateness of a process that has missed nothing. */
export const PUNCTUAL: Lateness = { lateMs: LATE_MS, aheadMs: 0 };

const MOST_AHEAD_MS = 1_000;

/** A miss multiplies the limit that was too short by `MORE`; a hit multiplies them by these: two misses cost two slots. */
const MORE = 2;
const LESS_LATE = 0.97;
const LESS_AHEAD = 0.9;

export type Miss = {
  readonly waitedFor: WaitedFor;
  /** Misses of the same call so far, this one included. */
  readonly misses: number;
};

/**
 * The lateness after a slot passed while a call waited for its timer or for a response from the table. A timer that is
 * late once costs a slot and changes nothing: to allow more lateness costs a part of every block.
 */
export function afterMiss({ lateMs, aheadMs }: Lateness, { waitedFor, misses }: Miss): Lateness {
  if (waitedFor === 'response')
    return { lateMs, aheadMs: Math.min(MOST_AHEAD_MS, Math.max(LATE_MS, aheadMs * MORE)) };
  return { lateMs: misses === 1 ? lateMs : Math.min(BLOCK_MS, lateMs * MORE), aheadMs };
}

/** The lateness after a call left in its slot. */
export const afterHit = ({ lateMs, aheadMs }: Lateness): Lateness => ({
  lateMs: Math.max(LATE_MS, lateMs * LESS_LATE),
  aheadMs: aheadMs * LESS_AHEAD,
});

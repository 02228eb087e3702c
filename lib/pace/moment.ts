import type { Clock, Moment } from './slots.ts';

/** The moment that is `atMs` by the clock now. Default: this one. */
export function momentOf(clock: Clock, atMs = clock.now()): Moment {
  const setBeforeMs = setBy(clock);
  return () => atMs + setBy(clock) - setBeforeMs;
}

/** By how much the clock has been set so far, in milliseconds. */
const setBy = ({ setByMs }: Clock): number => setByMs?.() ?? 0;

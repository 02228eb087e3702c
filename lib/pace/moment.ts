import type { Clock, Moment } from './slots.ts';

/** The moment that is `atMs` by the clock now. Default: this one. */
export function momentOf(clock: Clock, atMs = clock.now()): Moment {
  const setBeforeMs = setBy(clock);
  return () => atMs + setBy(clock) - setBeforeMs;
}

/** A clock that starts with this one and is never set, and what has to be added to its time for that of this one. */
export function neverSet(clock: Clock): { readonly clock: Clock; readonly behindMs: () => number } {
  const setBeforeMs = setBy(clock);
  const behindMs = () => setBy(clock) - setBeforeMs;
  return { clock: { now: () => clock.now() - behindMs(), sleep: clock.sleep }, behindMs };
}

/** By how much the clock has been set so far, in milliseconds. */
const setBy = ({ setByMs }: Clock): number => setByMs?.() ?? 0;

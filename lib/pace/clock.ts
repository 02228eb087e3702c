/** A clock in milliseconds, and a sleep on it. */
export type Clock = {
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds on a clock that is never set: it changes only as time passes. Default: `now`. */
  readonly steady?: (() => number) | undefined;
  /** The clock's maximum error in milliseconds, in either direction, beyond what the spacing allows for. Default: 0. */
  readonly clockErrorMs?: () => number;
  /** How many times the clock was changed so far. Absent: only a comparison with `steady` shows changes. */
  readonly steps?: () => number;
};

/** A point in time that stays correct when its clock is changed: in epoch milliseconds of the clock as it is now. */
export type AdjustedTime = () => number;

/** Creates a point in time that stays correct when the clock is changed. Default: now. */
export function trackTime(clock: Clock, atMs = clock.now()): AdjustedTime {
  const beforeMs = apartMs(clock);
  return () => atMs + apartMs(clock) - beforeMs;
}

/**
 * If a clock moves by more than this compared with the steady clock, in milliseconds, it was changed, or its
 * process was suspended.
 */
const STEP_MS = 50;

/** Creates a function that returns whether the clock was changed since its last call. */
export function watchSteps(clock: Pick<Clock, 'now' | 'steady' | 'steps'>): () => boolean {
  // The time is read first, since that updates `steps`.
  const read = () => ({ atMs: apartMs(clock), steps: clock.steps?.() });
  let last = read();
  return () => {
    const before = last;
    last = read();
    return Math.abs(last.atMs - before.atMs) > STEP_MS || last.steps !== before.steps;
  };
}

function apartMs({ now, steady = now }: Pick<Clock, 'now' | 'steady'>): number {
  return now() - steady();
}

const DECAY = 0.9;

/**
 * Longer durations do not count: a request gives up after 1 s, plus 1 s for connecting. If it took longer, the process
 * was suspended.
 */
const MAX_MS = 2_000;

/** Creates a maximum of recent durations, in milliseconds. Each shorter duration lowers it a little. It starts at 0. */
export function createDecayingMax() {
  let maxMs = 0;
  return {
    add(tookMs: number): void {
      maxMs = Math.max(tookMs > MAX_MS ? 0 : tookMs, maxMs * DECAY);
    },
    ms: (): number => maxMs,
  };
}

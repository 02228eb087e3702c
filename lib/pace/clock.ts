/** A clock in milliseconds, and a sleep on it. */
export type Clock = {
  /** The clock, in epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds on a clock that is never set. Default: `now` itself is never set. */
  readonly steady?: (() => number) | undefined;
  /** The clock's maximum error in either direction, beyond what the spacing of slots allows for. Default: 0. */
  readonly clockErrorMs?: () => number;
  /** How often the clock was set so far. Absent: a comparison with `steady` shows it, since the clock is not corrected. */
  readonly steps?: () => number;
};

/** A point in time that follows its clock when that is set: epoch milliseconds as the clock counts now. */
export type AdjustedTime = () => number;

/** Creates a time that stays correct when the clock is set. Default: the present. */
export function trackTime(clock: Clock, atMs = clock.now()): AdjustedTime {
  const beforeMs = apartMs(clock);
  return () => atMs + apartMs(clock) - beforeMs;
}

/**
 * If a clock moves by more than this compared with the steady clock, in milliseconds, it was set, or its process was
 * suspended.
 */
const STEP_MS = 50;

/** Creates the function that returns whether the clock was set since the function was last called. */
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

/** Longer durations do not count: a request gives up after 1 s, plus 1 s for connecting, so the process was suspended. */
const MAX_MS = 2_000;

/**
 * Creates a maximum of recent durations, in milliseconds, that decays with each shorter duration. It is 0 at first.
 */
export function createDecayingMax() {
  let maxMs = 0;
  return {
    add(tookMs: number): void {
      maxMs = Math.max(tookMs > MAX_MS ? 0 : tookMs, maxMs * DECAY);
    },
    ms: (): number => maxMs,
  };
}

/** A clock in milliseconds, and a sleep on it. */
export type Clock = {
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds on a clock that is never set. Default: this one never is. */
  readonly steady?: (() => number) | undefined;
  /** How far off it may be, in either direction, beyond what the spacing of slots pays for. Default: 0. */
  readonly clockErrorMs?: () => number;
  /** How often it was set so far, if a correction can hide that. Default: corrections hide nothing. */
  readonly steps?: () => number;
};

/** A point in time that follows its clock when that is set: epoch milliseconds as the clock counts now. */
export type AdjustedTime = () => number;

/** Makes a time that follows the clock. Default: the present. */
export function trackTime(clock: Clock, atMs = clock.now()): AdjustedTime {
  const beforeMs = apartMs(clock);
  return () => atMs + apartMs(clock) - beforeMs;
}

/** A clock that moves by more than this beside a steady one was set, or its process was stopped. */
const STEP_MS = 50;

/** Creates the function that returns whether the clock was set since its last call. */
export function watchSteps(clock: Pick<Clock, 'now' | 'steady' | 'steps'>): () => boolean {
  // The time first: reading it is what notices a step.
  const look = () => ({ atMs: apartMs(clock), steps: clock.steps?.() });
  let last = look();
  return () => {
    const before = last;
    last = look();
    return Math.abs(last.atMs - before.atMs) > STEP_MS || last.steps !== before.steps;
  };
}

function apartMs({ now, steady = now }: Pick<Clock, 'now' | 'steady'>): number {
  return now() - steady();
}

const DECAY = 0.9;

/** Requests give up after 1 s, and after 1 s of connecting: in a longer one the process was stopped. */
const MAX_MS = 2_000;

/** The maximum of recent durations, in milliseconds; each shorter one lets it decay. 0 before the first. */
export function createDecayingMax() {
  let maxMs = 0;
  return {
    add(tookMs: number): void {
      maxMs = Math.max(tookMs > MAX_MS ? 0 : tookMs, maxMs * DECAY);
    },
    ms: (): number => maxMs,
  };
}

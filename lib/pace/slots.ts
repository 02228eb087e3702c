export type Demand = {
  /** Calls that have a place in flight and wait for a slot, including the one that is asking. */
  readonly waiting: number;
  /** Calls so far, of those that are ready soon after they arrive. */
  readonly arrived: number;
};

export type SlotRequest = {
  readonly calledAt: Moment;
  readonly signal: AbortSignal | undefined;
  readonly demand: () => Demand;
  readonly operation?: string | undefined;
};

/** A call that has something to do before it may leave, such as writing that it leaves. */
export type ApproachRequest = SlotRequest & {
  /** Calls that will take a slot before this one, and how long until one of them may take too long to count. */
  readonly ahead: () => { readonly calls: number; readonly forMs: number };
  readonly leadMs: () => number;
};

/** When something was, or is due, by a clock that may be set meanwhile: epoch milliseconds as the clock counts now. */
export type Moment = () => number;

/** A clock in milliseconds, and a sleep on it. */
export type Clock = {
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Milliseconds on a clock that is never set. Default: this one never is. */
  readonly steady?: (() => number) | undefined;
  /** How far off it may be, in either direction, beyond what the spacing of slots pays for. Default: not at all. */
  readonly doubtMs?: () => number;
  /** How often it was set so far, if a correction can hide that. Default: none can. */
  readonly steps?: () => number;
};

export function momentOf(clock: Clock, atMs = clock.now()): Moment {
  const beforeMs = apartMs(clock);
  return () => atMs + apartMs(clock) - beforeMs;
}

/** A clock that moves by more beside one that is never set was set, or its process stood still. */
const STEP_MS = 50;

/** Makes the function that returns whether the clock was set since the last time. */
export function watchSteps(clock: Pick<Clock, 'now' | 'steady' | 'steps'>): () => boolean {
  // The time first: it is what notices a step.
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

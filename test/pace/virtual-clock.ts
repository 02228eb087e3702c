type VirtualClockOptions = {
  /** How late a timer wakes, in milliseconds. Default: never. */
  readonly lateness?: (() => number) | undefined;
  /** Work in progress outside the event loop, which takes no virtual time. Default: none. */
  readonly underWay?: (() => Promise<void> | undefined) | undefined;
  /**
   * True if the simulated code waits only for promises and `underWay`: then turns of the event loop, which cost more,
   * are skipped. Default: false.
   */
  readonly isOnlyPromises?: boolean;
};

type Sleeper = { readonly atMs: number; readonly wake: () => void };

/** A virtual clock that advances only while code sleeps on it, with a sleep that may wake late. Times are in milliseconds. */
export function createVirtualClock({
  lateness = () => 0,
  underWay = () => undefined,
  isOnlyPromises = false,
}: VirtualClockOptions = {}) {
  let nowMs = 0;
  /** Sorted with the next one last: most sleeps are short, so an insertion moves few entries even if many sleep for months. */
  const sleepers: Sleeper[] = [];
  let wakes = 0;

  /** Inserts a sleeper. Sleepers with the same time wake in the order of their insertion. */
  const add = (ms: number, wake: () => void): Sleeper => {
    const sleeper = { atMs: nowMs + ms + lateness(), wake };
    let [from, to] = [0, sleepers.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((sleepers[middle]?.atMs ?? 0) > sleeper.atMs) from = middle + 1;
      else to = middle;
    }
    sleepers.splice(from, 0, sleeper);
    return sleeper;
  };
  const remove = (sleeper: Sleeper) => {
    const at = sleepers.lastIndexOf(sleeper);
    if (at >= 0) sleepers.splice(at, 1);
  };

  /** Wakes the sleepers one by one, in the order of their times, until none is left or `untilMs` is reached. */
  const run = async (untilMs = Number.POSITIVE_INFINITY): Promise<void> => {
    for (;;) {
      wakes += 1;
      await settle(underWay, isOnlyPromises && wakes % WAKES_A_TURN !== 0);
      const next = sleepers.at(-1);
      if (next === undefined || next.atMs > untilMs) break;
      sleepers.pop();
      nowMs = Math.max(nowMs, next.atMs);
      next.wake();
    }
    nowMs = Number.isFinite(untilMs) ? Math.max(nowMs, untilMs) : nowMs;
  };

  return {
    now: () => nowMs,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        const stop = () => {
          remove(sleeper);
          reject(signal?.reason);
        };
        const wake = () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const sleeper = add(ms, wake);
        signal?.addEventListener('abort', stop, { once: true });
      }),
    /** Sleeps for the given time, or until `sooner` resolves. */
    async sleepAtMost(ms: number, sooner: Promise<void>): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const sleeper = add(ms, resolve);
      await Promise.race([promise, sooner]);
      remove(sleeper);
    },
    run,
    /** Runs until nothing sleeps any more, and returns or throws what `work` does. */
    async finish<Value>(work: Promise<Value>): Promise<Value> {
      await Promise.allSettled([work, run()]);
      return work;
    },
  };
}

/** After this number of wakes the event loop turns anyway, so that the test runner and Ctrl-C work. */
const WAKES_A_TURN = 1_000;

/** Waits until no promise can make progress any more: one turn of the event loop runs them all. */
async function settle(underWay: () => Promise<void> | undefined, isOnlyPromises: boolean): Promise<void> {
  for (;;) {
    if (isOnlyPromises) for (let ticks = 0; ticks < 2; ticks += 1) await new Promise<void>(process.nextTick);
    else await new Promise((resolve) => setImmediate(resolve));
    const work = underWay();
    if (work === undefined) return;
    await work;
  }
}

type VirtualClockOptions = {
  /** How late a timer wakes, in milliseconds. Default: never. */
  readonly lateness?: (() => number) | undefined;
  /** What is being done outside the event loop, which takes no virtual time. Default: nothing. */
  readonly underWay?: (() => Promise<void> | undefined) | undefined;
};

type Sleeper = { readonly atMs: number; readonly wake: () => void };

/** A clock that advances only when somebody sleeps on it, and a sleep that may wake late. Times in milliseconds. */
export function createVirtualClock({
  lateness = () => 0,
  underWay = () => undefined,
}: VirtualClockOptions = {}) {
  let nowMs = 0;
  const sleepers: Sleeper[] = [];

  /** Those of the same time wake in the order in which they went to sleep. */
  const add = (sleeper: Sleeper) => {
    let [from, to] = [0, sleepers.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((sleepers[middle]?.atMs ?? 0) <= sleeper.atMs) from = middle + 1;
      else to = middle;
    }
    sleepers.splice(from, 0, sleeper);
  };

  /** Wakes the sleepers one by one, in the order of their times, until none is left or `untilMs` is reached. */
  const run = async (untilMs = Number.POSITIVE_INFINITY): Promise<void> => {
    for (;;) {
      await settle(underWay);
      const next = sleepers[0];
      if (next === undefined || next.atMs > untilMs) break;
      sleepers.shift();
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
          const at = sleepers.indexOf(sleeper);
          if (at >= 0) sleepers.splice(at, 1);
          reject(signal?.reason);
        };
        const wake = () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        };
        const sleeper = { atMs: nowMs + ms + lateness(), wake };
        add(sleeper);
        signal?.addEventListener('abort', stop, { once: true });
      }),
    run,
    /** Runs until nothing sleeps any more, and what `work` returns or throws. */
    async finish<Value>(work: Promise<Value>): Promise<Value> {
      await Promise.allSettled([work, run()]);
      return work;
    },
  };
}

/** Until every promise that can make progress has: in one turn of the event loop they all do. */
async function settle(underWay: () => Promise<void> | undefined): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    const work = underWay();
    if (work === undefined) return;
    await work;
  }
}

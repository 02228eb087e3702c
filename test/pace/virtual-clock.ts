type VirtualClockOptions = {
  /** How late a timer wakes, in milliseconds. Default: never. */
  readonly lateness?: (() => number) | undefined;
  /** Whether something is being done outside the event loop, which takes no virtual time. Default: never. */
  readonly isBusy?: (() => boolean) | undefined;
};

type Sleeper = { readonly atMs: number; readonly wake: () => void };

/** A clock that advances only when somebody sleeps on it, and a sleep that may wake late. Times in milliseconds. */
export function createVirtualClock({ lateness = () => 0, isBusy = () => false }: VirtualClockOptions = {}) {
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
      await settle(isBusy);
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

/** How many turns of the event loop it takes until every promise that can make progress has. */
const TURNS = 3;

async function settle(isBusy: () => boolean): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (isBusy()) turn = -1;
  }
}

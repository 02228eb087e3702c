/** A clock that advances only when somebody sleeps on it, and a sleep that may wake late. Times in milliseconds. */
export function createVirtualClock(lateness: () => number = () => 0) {
  let nowMs = 0;
  const sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  return {
    now: () => nowMs,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve, reject) => {
        sleepers.push({ atMs: nowMs + ms + lateness(), wake: resolve });
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      }),
    /** Wakes the sleepers one by one, in the order of their times, until none is left or `untilMs` is reached. */
    async run(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
      for (;;) {
        await settle();
        sleepers.sort((a, b) => a.atMs - b.atMs);
        const next = sleepers[0];
        if (next === undefined || next.atMs > untilMs) break;
        sleepers.shift();
        nowMs = Math.max(nowMs, next.atMs);
        next.wake();
      }
      nowMs = Number.isFinite(untilMs) ? Math.max(nowMs, untilMs) : nowMs;
    },
  };
}

/** Lets every promise that can make progress do so. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

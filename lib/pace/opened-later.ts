import { once } from '../base/index.ts';
import type { Pace } from './pace.ts';

/** A pace that is opened by its first call. Until then it reports `rate`, in requests a second, as its effective rate. */
export function openedLater(rate: number, open: () => Promise<Pace>): Pace {
  let pace: Pace | undefined;
  const opened = once(async () => {
    pace = await open();
    return pace;
  });
  return {
    run: async (call, options) => (await opened()).run(call, options),
    throttled: async (slot, retryAfterMs) => (await opened()).throttled(slot, retryAfterMs),
    counts: () =>
      pace?.counts() ?? {
        granted: 0,
        used: 0,
        wasted: 0,
        waitedMs: 0,
        throttled: 0,
        effectiveRate: rate,
      },
  };
}

import { once } from '../base/index.ts';
import type { BudgetItem } from './budget.ts';
import type { createFleetPace, LocalPaceOptions } from './fleet-pace.ts';
import { checkLimits, type Pace } from './pace.ts';

/**
 * Creates a pace that the first call opens. Until then it reports `rate`, in requests a second, as its effective rate.
 */
function lazyPace(rate: number, open: () => Promise<Pace>): Pace {
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

/** Creates the pace of one worker of a fleet; the first call opens its budget. */
export const openFleetPace = ({
  budget,
  ...options
}: Omit<Parameters<typeof createFleetPace>[0], 'item'> & {
  readonly budget: () => Promise<BudgetItem>;
}): Pace =>
  lazyPace(options.rate, async () => {
    const { createFleetPace } = await import('./fleet-pace.ts');
    return createFleetPace({ ...options, item: await budget() });
  });

/**
 * Creates the pace of one process: at most `rate` requests in any second, and `concurrency` in flight. A 429
 * lowers the rate until the platform accepts more. Throws `RangeError` if a limit is invalid. The first call loads
 * most of the code.
 *
 * ```ts
 * const pace = createLocalPace({ rate: 2, concurrency: 8 }); const rows = await pace.run(() => fetch(url));
 * ```
 */
export function createLocalPace(options: LocalPaceOptions): Pace {
  checkLimits(options);
  return lazyPace(options.rate, async () => (await import('./fleet-pace.ts')).createProcessPace(options));
}

import { once, sleep } from '../base/index.ts';
import type { BreakerItem, OpenBreaker } from '../pace/breaker.ts';
import { createMemoryBudget } from '../pace/budget-changes.ts';
import { type Breaker, createFleetBreaker } from '../pace/fleet-breaker.ts';
import type { Call } from './call.ts';
import { probePlatform } from './outage.ts';

export type OpenBreakerOptions = {
  /** Opens the one that the fleet shares; without it the breaker is this process's own. */
  readonly item: (() => Promise<BreakerItem>) | undefined;
  /** Makes the probes. */
  readonly call: Call;
  readonly onOpen: (breaker: OpenBreaker) => void;
  readonly onClosed: (breaker: OpenBreaker) => void;
};

/** The breaker of a process. Reads nothing, and loads no SDK, until a job is about to be taken. */
export const openBreaker = (options: OpenBreakerOptions): Breaker =>
  createFleetBreaker({
    item: options.item === undefined ? createMemoryBudget().breaker : loadedLater(options.item),
    probe: () => probePlatform(options.call),
    clock: { now: Date.now, sleep },
    onOpen: options.onOpen,
    onClosed: options.onClosed,
  });

function loadedLater(open: () => Promise<BreakerItem>): BreakerItem {
  const loaded = once(open);
  return {
    read: async () => (await loaded()).read(),
    open: async (breaker) => (await loaded()).open(breaker),
    takeProbe: async (...seen) => (await loaded()).takeProbe(...seen),
    close: async (seen) => (await loaded()).close(seen),
  };
}

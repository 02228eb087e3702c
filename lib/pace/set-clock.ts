import PQueue from 'p-queue';
import type { BudgetItem } from './budget.ts';
import { enqueue } from './enqueue.ts';
import { watchSteps } from './slots.ts';
import type { TableClock } from './table-clock.ts';

export type SetClockOptions = {
  readonly item: BudgetItem;
  readonly clock: TableClock;
  /** Sleeps without keeping the process alive. */
  readonly rest: (ms: number) => Promise<void>;
};

/** The goals of the looks before anything is reserved, and of those beside the work. */
const [COARSE_MS, FINE_MS] = [45, 18];

/** A second begins within this time, or the table's responses say nothing. */
const LONGEST_MS = 1_100;
const LOOK_EVERY_MS = 25;

/**
 * Makes the function that sets a worker's clock by the table's before it reserves, at once if that has been done: it
 * looks at the table until a second begins there, and then once in each second beside the work until that is known
 * well. Where responses have no `Date` the clock here is used. Throws what the item throws, and the abort.
 */
export function createSetClock({ item, clock, rest }: SetClockOptions) {
  const setting = new PQueue({ concurrency: 1 });
  const wasSet = watchSteps(clock);
  let [isSet, isLooking] = [false, false];
  item.onDate?.(clock.saw);
  const isUnset = () => {
    if (wasSet()) isSet = false;
    return !isSet;
  };
  const find = async (signal: AbortSignal | undefined) => {
    const untilMs = clock.steady() + LONGEST_MS;
    for (let look = 1; isUnset(); look += 1) {
      signal?.throwIfAborted();
      // A keep-alive connection may have died.
      await item.read().catch(item.read);
      const openMs = clock.uncertaintyMs();
      isSet =
        openMs <= COARSE_MS ||
        clock.steady() > untilMs ||
        (look === 3 && openMs === Number.POSITIVE_INFINITY);
      wasSet();
      if (!isSet) await clock.sleep(Math.min(LOOK_EVERY_MS, clock.untilSecondMs()), signal);
    }
  };
  return async (signal: AbortSignal | undefined): Promise<void> => {
    if (item.onDate === undefined) return;
    if (isUnset()) await enqueue(setting, () => find(signal), signal);
    const openMs = clock.uncertaintyMs();
    if (isLooking || openMs <= FINE_MS || openMs === Number.POSITIVE_INFINITY) return;
    isLooking = true;
    // Nobody waits for this look: a table that is away is noticed by those who need it.
    rest(clock.untilSecondMs())
      .then(item.read)
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  };
}

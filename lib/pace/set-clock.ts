import PQueue from 'p-queue';
import { TableError } from '../table/table-error.ts';
import type { BudgetItem } from './budget.ts';
import { enqueue } from './enqueue.ts';
import { momentOf } from './moment.ts';
import type { Moment } from './slots.ts';
import type { TableClock } from './table-clock.ts';

export type SetClock = (signal: AbortSignal | undefined) => Promise<void>;

export type SetClockOptions = {
  readonly item: BudgetItem;
  readonly clock: TableClock;
  /** Sleeps without keeping the process alive. */
  readonly rest: (ms: number) => Promise<void>;
};

/** Nothing is reserved while the table's time is known less exactly than this, in milliseconds. */
const UNKNOWN_MS = 500;

/** The goals of the looks before anything is reserved, and of those that follow beside the work. */
const COARSE_MS = 45;
const FINE_MS = 8;

/** A second begins within this time, or the table's responses say nothing. */
const LONGEST_MS = 1_100;
const LOOK_EVERY_MS = 25;

const MOST_FINE_LOOKS = 8;

const AT_ONCE: Moment = () => Number.NEGATIVE_INFINITY;

/** How long to go by the clock here before the next try, if the table did not respond. */
const RETRY_MS = 10_000;

/**
 * Makes the function that sets a worker's clock by the table's; it returns at once if that has been done. The first time
 * it looks at the table until a second begins there, which takes a second at most; a few well-timed looks beside the
 * work then narrow that down, and so does every other response. Where responses have no `Date`, or the table does not
 * respond, the clock here is used. Throws the abort.
 */
export function createSetClock({ item, clock, rest }: SetClockOptions): SetClock {
  const setting = new PQueue({ concurrency: 1 });
  let retryAt = AT_ONCE;
  let isRefining = false;
  item.onDate?.((seen) => {
    // A response to anybody's request shows that the table is back.
    if (clock.uncertaintyMs() === Number.POSITIVE_INFINITY) retryAt = AT_ONCE;
    clock.saw(seen);
  });
  const isUnknown = () => clock.uncertaintyMs() > UNKNOWN_MS && clock.now() >= retryAt();
  const findOnce = async (signal: AbortSignal | undefined) => {
    if (!isUnknown()) return;
    try {
      await findSecond(item, clock, signal);
    } catch (error) {
      if (!(error instanceof TableError)) throw error;
    }
    if (clock.uncertaintyMs() > UNKNOWN_MS) retryAt = momentOf(clock, clock.now() + RETRY_MS);
  };

  const refine = async () => {
    for (let look = 0; look < MOST_FINE_LOOKS && clock.uncertaintyMs() > FINE_MS; look += 1) {
      await rest(clock.untilSecondMs());
      await item.read();
    }
  };

  return async (signal) => {
    if (item.onDate === undefined) return;
    if (isUnknown()) await enqueue(setting, () => findOnce(signal), signal);
    if (isRefining || clock.uncertaintyMs() <= COARSE_MS / 2 || isUnknown()) return;
    isRefining = true;
    // Nobody waits for these looks: a table that is away is noticed by those who need it.
    refine()
      .catch(() => undefined)
      .finally(() => {
        isRefining = false;
      });
  };
}

/**
 * Looks at the table until one of its seconds begins. A look that fails is made again, unless it is the first, or the
 * one before failed too: then the table is away.
 */
async function findSecond(item: BudgetItem, clock: TableClock, signal: AbortSignal | undefined) {
  await item.read();
  // A clock that is off is set by three responses. Those without a `Date` leave everything open: no look follows.
  for (let look = 1; look < 3 && clock.uncertaintyMs() === Number.POSITIVE_INFINITY; look += 1)
    await item.read();
  // A response leaves a second open, and the time it took.
  const tookMs = Math.max(0, clock.uncertaintyMs() - 1000);
  const mostLooks = Math.ceil(LONGEST_MS / (LOOK_EVERY_MS + tookMs));
  for (let look = 0; look < mostLooks && clock.uncertaintyMs() > COARSE_MS + tookMs; look += 1) {
    signal?.throwIfAborted();
    await clock.sleep(Math.min(LOOK_EVERY_MS, clock.untilSecondMs()), signal);
    await item.read().catch((error: unknown) => {
      if (!(error instanceof TableError)) throw error;
      return item.read();
    });
  }
}

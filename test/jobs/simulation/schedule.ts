import { createDice } from './dice.ts';
import type { Process } from './process.ts';

/** What can go wrong in a schedule, the platform's own answers included. */
export const allTroubles = [
  'crash',
  'pause',
  'clock',
  'table',
  'store',
  'platform',
  'queue',
  'tell',
] as const;
export type Trouble = (typeof allTroubles)[number];

export type ScheduleOptions = {
  readonly seed: number;
  readonly troubles: readonly Trouble[];
  /** How often something meets trouble, in a hundred. */
  readonly troublePercent: number;
  /** After so many steps nothing goes wrong any more. */
  readonly troubledSteps: number;
};

/** Something that can happen next. Without a process it is the outside's: whoever asked for it may be dead. */
export type Item = {
  readonly process: Process | undefined;
  /** Epoch milliseconds; asked again and again. */
  readonly readyAtMs: () => number;
  readonly happen: () => Promise<void> | void;
  /** What may still arrive when its process has crashed. */
  readonly orphan?: (() => Promise<unknown>) | undefined;
};

const START_MS = Date.parse('2026-11-21T09:00:00Z');

/**
 * A clock, and all that can happen next, of which the dice pick one at a time. `fc.scheduler` picks an order of
 * promises; here things are also left undone, done without an answer or done long after, processes die or sleep in,
 * and time passes, so the scheduler is one of our own. Between two steps every promise that can go on does so: by
 * `setImmediate`, since microtasks alone have no end to wait for.
 */
export function createSchedule({ seed, troubles, troublePercent, troubledSteps }: ScheduleOptions) {
  const dice = createDice(seed);
  const trace: string[] = [];
  let items: Item[] = [];
  let nowMs = START_MS;
  let steps = 0;

  const meets = (trouble: Trouble) =>
    steps < troubledSteps && troubles.includes(trouble) && dice.percent(troublePercent);
  const readyAt = ({ process, readyAtMs }: Item) => Math.max(readyAtMs(), process?.pausedUntilMs ?? 0);

  const step = async (ready: readonly Item[]) => {
    // Time passes while things are under way: for most of them none at all, since ties are where orders count.
    nowMs += dice.pick([0, 0, 0, 0, 1, 30]);
    if (meets('clock')) nowMs += dice.pick([1_000, 30_000, 100_000]);
    const chosen = dice.pick(ready);
    items.splice(items.indexOf(chosen), 1);
    await chosen.happen();
  };

  return {
    dice,
    trace,
    meets,
    now: () => nowMs,
    steps: () => steps,
    note: (who: string, what: string) => void trace.push(`${nowMs - START_MS} ${who}: ${what}`),
    add: (item: Item) => void items.push(item),
    /** Takes out all that `isGone` names, and answers it. */
    drop(isGone: (item: Item) => boolean): readonly Item[] {
      const gone = items.filter(isGone);
      items = items.filter((item) => !gone.includes(item));
      return gone;
    },
    /** Lets one thing happen after another until nothing can any more; false if that takes more than `mostSteps`. */
    async run(mostSteps: number): Promise<boolean> {
      for (; steps < mostSteps; steps += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        const ready = items.filter((item) => readyAt(item) <= nowMs);
        const nextMs = Math.min(...items.map(readyAt));
        if (ready.length > 0) await step(ready);
        else if (nextMs === Number.POSITIVE_INFINITY) return true;
        else nowMs = nextMs;
      }
      return false;
    },
  };
}

export type Schedule = ReturnType<typeof createSchedule>;

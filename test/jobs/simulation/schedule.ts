import { createDice } from './dice.ts';
import type { Process } from './process.ts';

/** What can go wrong in a schedule, including the platform's own responses. */
export const allTroubles = [
  'crash',
  'pause',
  'clock',
  'table',
  'store',
  'platform',
  'queue',
  'report',
] as const;
export type Trouble = (typeof allTroubles)[number];

export type ScheduleOptions = {
  readonly seed: number;
  readonly troubles: readonly Trouble[];
  /** How often something meets trouble, in percent. */
  readonly troublePercent: number;
  /** After this many steps nothing goes wrong any more. */
  readonly troubledSteps: number;
};

/** Something that can happen next. Without a process it happens outside: the process that started it may be dead. */
export type Item = {
  readonly process: Process | undefined;
  /** In epoch milliseconds; called again and again. */
  readonly readyAtMs: () => number;
  readonly happen: () => Promise<void> | void;
  /** What may still arrive when its process has crashed. */
  readonly orphan?: (() => Promise<unknown>) | undefined;
};

const START_MS = Date.parse('2026-11-21T09:00:00Z');

/**
 * A clock, and everything that can happen next, from which the dice pick one thing at a time. `fc.scheduler` picks an
 * order of promises. Here things are also left undone, done without a response or done long after, processes die or
 * pause, and time passes, so we need a scheduler of our own. Between two steps, every promise that can continue does:
 * `setImmediate` sees to that, since microtasks alone have no end to wait for.
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
    // Time passes while things are under way. For most of them it does not, since the order matters most in ties.
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
    log: (who: string, what: string) => void trace.push(`${nowMs - START_MS} ${who}: ${what}`),
    add: (item: Item) => void items.push(item),
    /** Removes all items for which `isGone` is true, and returns them. */
    drop(isGone: (item: Item) => boolean): readonly Item[] {
      const gone = items.filter(isGone);
      items = items.filter((item) => !gone.includes(item));
      return gone;
    },
    /** Lets one thing happen after another until nothing is left; false if that takes more than `mostSteps`. */
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

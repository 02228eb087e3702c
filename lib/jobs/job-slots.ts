import type { JobClock } from './send-context.ts';

/*
 * The jobs of a process run side by side. If workers die again and again, this isolates the job that kills them:
 * each job that was running when they died runs alone, jobs with fewer deaths first.
 */

/** The permission for a job to run, together with other jobs or alone. Disposing of it frees the slot. */
export type JobSlot = Disposable & {
  readonly isAlone: boolean;
  /** Lets other jobs run at the same time from now on. */
  readonly share: () => void;
};

type SlotOptions = {
  /** How many workers died while they had the job. With 0, the job may run together with other jobs. */
  readonly deaths: number;
  /** When the job stops waiting for a slot, in epoch milliseconds. Default: never. */
  readonly untilMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Before a job runs alone, the process must have been idle for this long, in milliseconds, times the number of the
 * job's deaths. So jobs with fewer deaths go first.
 */
const IDLE_MS_PER_DEATH = 50;

/** The time between two checks whether a slot is free, in milliseconds. */
const CHECK_EVERY_MS = 25;

/** After a job has waited this long to run alone, in milliseconds, no other job may begin. */
const MAX_WAIT_MS = 60_000;

/** Creates the slots in which the jobs of this process run. */
export function createJobSlots({ now, sleep }: Pick<JobClock, 'now' | 'sleep'>) {
  const waiting = new Set<{ readonly deaths: number; readonly beganMs: number }>();
  let running = 0;
  let isTaken = false;
  let idleSinceMs = now();

  const enter = (isAlone: boolean): JobSlot => {
    let isOnlyOne = isAlone;
    const share = () => {
      if (isOnlyOne) isTaken = false;
      isOnlyOne = false;
    };
    running += 1;
    isTaken ||= isAlone;
    return {
      isAlone,
      share,
      [Symbol.dispose]() {
        share();
        running -= 1;
        idleSinceMs = now();
      },
    };
  };
  // The clock may have been set back, so only the distance counts.
  const sinceMs = (atMs: number) => Math.abs(now() - atMs);
  const isNext = (deaths: number) => [...waiting].every((other) => other.deaths >= deaths);
  const isIdleLongEnough = (deaths: number) =>
    running === 0 && isNext(deaths) && sinceMs(idleSinceMs) >= deaths * IDLE_MS_PER_DEATH;
  const isHeldUp = () => [...waiting].some(({ beganMs }) => sinceMs(beganMs) >= MAX_WAIT_MS);
  const mayEnter = (deaths: number) => (deaths === 0 ? !isTaken && !isHeldUp() : isIdleLongEnough(deaths));

  return {
    /** Takes a slot; undefined if no slot became free in time. */
    async take({ deaths, untilMs = Number.POSITIVE_INFINITY, signal }: SlotOptions) {
      const entry = { deaths, beganMs: now() };
      if (deaths > 0) waiting.add(entry);
      try {
        while (!mayEnter(deaths)) {
          if (signal?.aborted || now() >= untilMs) return undefined;
          await sleep(CHECK_EVERY_MS, signal).catch(() => undefined);
        }
        return enter(deaths > 0);
      } finally {
        waiting.delete(entry);
      }
    },
  };
}

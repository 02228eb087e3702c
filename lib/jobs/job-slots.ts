import type { JobClock } from './send-context.ts';

/*
 * The jobs of a process run side by side. If workers die again and again, this isolates the job that kills them:
 * each job that was running when they died runs alone, jobs with fewer deaths first.
 */

/** The permission for a job to run, beside other jobs or alone. Disposing of it frees the slot. */
export type JobSlot = Disposable & {
  readonly isAlone: boolean;
  /** Lets other jobs run beside this one from now on. */
  readonly share: () => void;
};

type SlotOptions = {
  /** How many workers died while they had the job. With 0, the job may run beside other jobs. */
  readonly deaths: number;
  /** When the job stops waiting for a slot, in epoch milliseconds. Default: never. */
  readonly untilMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * A job runs alone only after the process has been idle for this long × its deaths. So jobs with fewer deaths go
 * first.
 */
const QUIET_MS = 50;

const CHECK_EVERY_MS = 25;

/** Once a job has waited this long to run alone, no other job may begin, in milliseconds. */
const MAX_WAIT_MS = 60_000;

export function createJobSlots({ now, sleep }: Pick<JobClock, 'now' | 'sleep'>) {
  const waiting = new Set<{ readonly deaths: number; readonly beganMs: number }>();
  let running = 0;
  let isTaken = false;
  let quietSinceMs = now();

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
        quietSinceMs = now();
      },
    };
  };
  // The clock may have been set back, so only the distance counts.
  const sinceMs = (atMs: number) => Math.abs(now() - atMs);
  const isNext = (deaths: number) => [...waiting].every((other) => other.deaths >= deaths);
  const isQuiet = (deaths: number) =>
    running === 0 && isNext(deaths) && sinceMs(quietSinceMs) >= deaths * QUIET_MS;
  const isHeldUp = () => [...waiting].some(({ beganMs }) => sinceMs(beganMs) >= MAX_WAIT_MS);
  const mayEnter = (deaths: number) => (deaths === 0 ? !isTaken && !isHeldUp() : isQuiet(deaths));

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

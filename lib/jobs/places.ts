import type { JobClock } from './send-context.ts';

/*
 * The jobs of a process run side by side. If workers die again and again, this finds the job that kills them
 * among those that ran beside it: each of them runs alone, those with fewer deaths first.
 */

/** A job's place, beside others or alone. Disposing of it frees the place. */
export type Place = Disposable & {
  readonly isAlone: boolean;
  /** Lets other jobs run beside this one from now on. */
  readonly share: () => void;
};

type PlaceOptions = {
  /** How many workers died while they had the job. With 0 it may run beside others. */
  readonly deaths: number;
  /** When the job stops waiting for a place, in epoch milliseconds. Default: never. */
  readonly untilMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Before a job runs alone, no job may have run for this long, times its number of deaths: so jobs with fewer
 * deaths run first.
 */
const QUIET_MS = 50;

const LOOK_EVERY_MS = 25;

/** A job that has waited this long to run alone keeps other jobs from beginning. */
const MAX_WAIT_MS = 60_000;

export function createPlaces({ now, sleep }: Pick<JobClock, 'now' | 'sleep'>) {
  const waiting = new Set<{ readonly deaths: number; readonly beganMs: number }>();
  let running = 0;
  let isTaken = false;
  let quietSinceMs = now();

  const enter = (isAlone: boolean): Place => {
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
  // The clock may have been set, so only the distance counts, in either direction.
  const sinceMs = (atMs: number) => Math.abs(now() - atMs);
  const isNext = (deaths: number) => [...waiting].every((other) => other.deaths >= deaths);
  const isQuiet = (deaths: number) =>
    running === 0 && isNext(deaths) && sinceMs(quietSinceMs) >= deaths * QUIET_MS;
  const isHeldUp = () => [...waiting].some(({ beganMs }) => sinceMs(beganMs) >= MAX_WAIT_MS);
  const mayEnter = (deaths: number) => (deaths === 0 ? !isTaken && !isHeldUp() : isQuiet(deaths));

  return {
    /** Takes a place; undefined if no place became free in time. */
    async take({ deaths, untilMs = Number.POSITIVE_INFINITY, signal }: PlaceOptions) {
      const own = { deaths, beganMs: now() };
      if (deaths > 0) waiting.add(own);
      try {
        while (!mayEnter(deaths)) {
          if (signal?.aborted || now() >= untilMs) return undefined;
          await sleep(LOOK_EVERY_MS, signal).catch(() => undefined);
        }
        return enter(deaths > 0);
      } finally {
        waiting.delete(own);
      }
    },
  };
}

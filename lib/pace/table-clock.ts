import type { DateSeen } from '../table/index.ts';
import { type Clock, watchSteps } from './slots.ts';

/** The clock of a process, corrected by what the table's responses say of the time. All times in epoch milliseconds. */
export type TableClock = Required<Clock> & {
  readonly steady: () => number;
  saw(seen: DateSeen): void;
  /** Whether a response had a date so far. */
  hasDates(): boolean;
  /** Between which bounds the table's time lies; `Infinity` before a response is believed, and after a step. */
  uncertaintyMs(): number;
  /** How long until the table's next second most likely begins. */
  untilSecondMs(): number;
};

type TableClockOptions = Pick<Clock, 'now' | 'sleep' | 'steady'> & {
  readonly onClockOff?: ((off: ClockOff) => void) | undefined;
};

export type ClockOff = { readonly offMs: number; readonly table: string; readonly here: string };

/** The table's time is the time here plus something between the two, as of `atMs`. */
type Bounds = { readonly leastMs: number; readonly mostMs: number; readonly atMs: number };

/** How much a clock may gain or lose on another one, and how far apart bounds may be: servers differ a little. */
const [DRIFT, SERVERS_MS] = [0.000_1, 25];

/** The spacing of slots pays for so much of a doubt, and for all of it where the clock here agrees to within `AGREED_MS`. */
const [PAID_MS, AGREED_MS] = [9, 40];

/** How near the bounds must be before anything is reserved, and how near one look a second brings them beside the work. */
const [COARSE_MS, FINE_MS] = [45, 18];

/** Looks follow one another so fast; a second begins within the other time, or the dates are wrong. */
const [LOOK_EVERY_MS, MAX_MS] = [25, 1_100];

/** How long looks go on while the clock is set again and again. */
const SET_AGAIN_MS = 5 * MAX_MS;

const REPORTED_MS = 60_000;

/** A clock that follows the table's: the time here as long as that agrees with what was seen, else the middle of it. */
export function createTableClock({ now, sleep, steady = now, onClockOff }: TableClockOptions): TableClock {
  let known: Bounds | undefined;
  let last: readonly DateSeen[] = [];
  let hasDates = false;
  let [offsetMs, reportedMs, steps] = [0, 0, 0];
  const wasSet = watchSteps({ now, steady });
  const hereMs = () => {
    if (wasSet()) [known, last, steps] = [undefined, [], steps + 1];
    return now();
  };
  const bounds = () => {
    const atMs = hereMs();
    return known && widened(known, atMs);
  };

  return {
    now: () => hereMs() + offsetMs,
    sleep,
    steady,
    steps: () => steps,
    hasDates: () => hasDates,
    saw(seen) {
      hasDates = true;
      const before = bounds();
      last = [...last.slice(-2), seen];
      const believed = agreeing(before, boundsOf(seen)) ?? threeInARow(last, before);
      if (believed === undefined) return;
      known = believed;
      const { leastMs, mostMs } = known;
      if (offsetMs !== 0 || leastMs > 0 || mostMs < 0) offsetMs = (leastMs + mostMs) / 2;
      if (Math.abs(offsetMs - reportedMs) < REPORTED_MS) return;
      reportedMs = offsetMs;
      onClockOff?.({ offMs: Math.round(-offsetMs), table: iso(now() + offsetMs), here: iso(now()) });
    },
    uncertaintyMs() {
      const { leastMs = 0, mostMs = Number.POSITIVE_INFINITY } = bounds() ?? {};
      return mostMs - leastMs;
    },
    doubtMs() {
      const { leastMs = offsetMs, mostMs = offsetMs } = bounds() ?? {};
      if (offsetMs === 0 && mostMs - leastMs <= AGREED_MS) return 0;
      return Math.max(0, offsetMs - leastMs - PAID_MS, mostMs - offsetMs - PAID_MS);
    },
    untilSecondMs() {
      const { leastMs = offsetMs, mostMs = offsetMs } = bounds() ?? {};
      return 1_000 - ((now() + (leastMs + mostMs) / 2) % 1_000);
    },
  };
}

type FindTimeOptions = {
  readonly clock: TableClock;
  /** A request to the table, whose `Date` the clock sees if the response has one. */
  readonly look: () => Promise<unknown>;
  /** Sleeps without keeping the process alive. */
  readonly rest: (ms: number) => Promise<void>;
};

/**
 * Looks at the table until a second begins there, and then once in each second beside the work until that is known
 * well. Where responses have no `Date` it returns without. Throws what `look` throws twice in a row, and the abort.
 */
export function createFindTime({ clock, look, rest }: FindTimeOptions) {
  const wasSet = watchSteps(clock);
  let [isFound, isLooking] = [false, false];
  return async (signal?: AbortSignal): Promise<void> => {
    const endMs = clock.steady() + SET_AGAIN_MS;
    let untilMs = clock.steady() + MAX_MS;
    let steps = clock.steps();
    if (wasSet()) isFound = false;
    for (let looks = 1; !isFound; looks += 1) {
      signal?.throwIfAborted();
      // A keep-alive connection may have died.
      await look().catch(look);
      const openMs = clock.uncertaintyMs();
      // A clock that is set meanwhile forgets what it knew.
      if (clock.steps() !== steps) untilMs = Math.min(clock.steady() + MAX_MS, endMs);
      steps = clock.steps();
      const hasNoDates = looks >= 3 && !clock.hasDates();
      isFound = openMs <= COARSE_MS || clock.steady() > untilMs || hasNoDates;
      // What the look itself has corrected is no step.
      wasSet();
      if (!isFound) await clock.sleep(Math.min(LOOK_EVERY_MS, clock.untilSecondMs()), signal);
    }
    const openMs = clock.uncertaintyMs();
    if (isLooking || openMs <= FINE_MS || openMs === Number.POSITIVE_INFINITY) return;
    isLooking = true;
    // Nobody waits for this look: a table that is away is noticed by those who need it.
    rest(clock.untilSecondMs())
      .then(look)
      .catch(() => undefined)
      .finally(() => {
        isLooking = false;
      });
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();

/** What is known after a response that agrees with it, or, if it is the first, with the clock here to a second. */
function agreeing(known: Bounds | undefined, seen: Bounds): Bounds | undefined {
  if (known !== undefined) return joined(known, seen);
  return seen.leastMs <= 1_000 && seen.mostMs >= -1_000 ? seen : undefined;
}

/** What the last three say, if they agree and contradict what was known; a date that stands still comes from a cache. */
function threeInARow([a, b, c]: readonly DateSeen[], known: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined || c === undefined) return undefined;
  const isOld = known && (a.dateMs === c.dateMs || [a, b].some((each) => joined(known, boundsOf(each))));
  const two = isOld ? undefined : joined(boundsOf(a), boundsOf(b));
  return two && joined(two, boundsOf(c));
}

const boundsOf = ({ dateMs, sentMs, receivedMs }: DateSeen): Bounds => ({
  leastMs: dateMs - receivedMs,
  mostMs: dateMs + 1_000 - sentMs,
  atMs: receivedMs,
});

function widened({ leastMs, mostMs, atMs }: Bounds, nowMs: number): Bounds {
  const driftMs = Math.max(0, nowMs - atMs) * DRIFT;
  return { leastMs: leastMs - driftMs, mostMs: mostMs + driftMs, atMs: nowMs };
}

/** What both say, and what lies between two that are a little apart; undefined if they contradict each other. */
function joined(before: Bounds, seen: Bounds): Bounds | undefined {
  const { leastMs, mostMs } = widened(before, seen.atMs);
  const inner = [Math.max(leastMs, seen.leastMs), Math.min(mostMs, seen.mostMs)] as const;
  if (inner[0] - inner[1] > SERVERS_MS) return undefined;
  return { leastMs: Math.min(...inner), mostMs: Math.max(...inner), atMs: seen.atMs };
}

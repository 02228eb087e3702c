import type { DateSeen } from '../table/index.ts';
import { type Clock, watchSteps } from './clock.ts';

/** The clock of a process, corrected by the `Date` of the table's responses. All times are in epoch milliseconds. */
type TableClock = Required<Clock> & {
  readonly steady: () => number;
  /** Reports that a response with a `Date` has arrived. */
  saw(seen: DateSeen): void;
  /** Whether any response has had a `Date`. */
  hasDates(): boolean;
  /**
   * The width of the interval that contains the table's time, in milliseconds; `Infinity` before a date is
   * accepted, and after the clock was changed.
   */
  uncertaintyMs(): number;
  /** How long until the table's next second most likely begins, in milliseconds. */
  untilSecondMs(): number;
};

/** Bounds of the difference between the table's time and the time here, as known at `atMs`. */
type Bounds = { readonly minMs: number; readonly maxMs: number; readonly atMs: number };

/** How much faster one clock may run than another, as a share of the time. */
const DRIFT = 0.000_1;

/** The maximum gap between the bounds from different servers, in milliseconds. */
const SERVERS_MS = 25;

/**
 * The clock error, in milliseconds, for which the spacing of slots allows. No error counts while the clock is not
 * corrected and its bounds are at most `AGREED_MS` wide.
 */
const ALLOWED_ERROR_MS = 9;
const AGREED_MS = 40;

/** The width of the bounds at which slots may be reserved, and the width at which reads in the background end. */
const COARSE_MS = 45;
const FINE_MS = 18;

/** The time between two reads, in milliseconds. */
const READ_EVERY_MS = 25;

/** How long to read until a new second begins at the table, in milliseconds. If none begins, the dates are wrong. */
const MAX_READ_MS = 1_100;

/** How long to read at most if the clock is changed again and again, in milliseconds. */
const MAX_READ_IF_SET_MS = 5 * MAX_READ_MS;

/** A clock that is off by this much is reported, in milliseconds. */
const REPORTED_MS = 60_000;

/**
 * Creates a clock that follows the table's clock. It shows this machine's time as long as that agrees with the dates of
 * responses, and otherwise the middle of their bounds. `onClockOff` is called when this machine's clock is found to
 * be a minute or more off.
 */
export function createTableClock(
  options: Pick<Clock, 'now' | 'sleep' | 'steady'> & {
    readonly onClockOff?:
      | ((off: { readonly offMs: number; readonly table: string; readonly here: string }) => void)
      | undefined;
  },
): TableClock {
  const { now, sleep, steady = now, onClockOff } = options;
  let known: Bounds | undefined;
  let last: readonly DateSeen[] = [];
  let hasDates = false;
  let offsetMs = 0;
  let reportedMs = 0;
  let steps = 0;
  const wasSet = watchSteps({ now, steady });
  const hereMs = () => {
    if (wasSet()) {
      known = undefined;
      last = [];
      steps += 1;
    }
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
      const { minMs, maxMs } = known;
      if (offsetMs !== 0 || minMs > 0 || maxMs < 0) offsetMs = (minMs + maxMs) / 2;
      if (Math.abs(offsetMs - reportedMs) < REPORTED_MS) return;
      reportedMs = offsetMs;
      onClockOff?.({ offMs: Math.round(-offsetMs), table: iso(now() + offsetMs), here: iso(now()) });
    },
    uncertaintyMs: () => widthOf(bounds()),
    clockErrorMs: () => errorOf(offsetMs, bounds()),
    untilSecondMs() {
      const { minMs = offsetMs, maxMs = offsetMs } = bounds() ?? {};
      return 1_000 - ((now() + (minMs + maxMs) / 2) % 1_000);
    },
  };
}

/**
 * Creates the function that finds out the table's time: it reads the table until a new second begins there. If the time
 * is still imprecise, each later call starts one more read in the background. Gives up if responses have no `Date`.
 * Rethrows an error that `read` throws twice in a row, and the abort.
 */
export function createFindTime(options: {
  readonly clock: TableClock;
  /** Sends a request to the table; the clock sees the response's `Date` if there is one. */
  readonly read: () => Promise<unknown>;
  /** Sleeps without keeping the process alive. */
  readonly backgroundSleep: (ms: number) => Promise<void>;
}) {
  const { clock, read, backgroundSleep } = options;
  const wasSet = watchSteps(clock);
  let isFound = false;
  let isReading = false;
  return async (signal?: AbortSignal): Promise<void> => {
    const endMs = clock.steady() + MAX_READ_IF_SET_MS;
    let untilMs = clock.steady() + MAX_READ_MS;
    let steps = clock.steps();
    if (wasSet()) isFound = false;
    for (let reads = 1; !isFound; reads += 1) {
      signal?.throwIfAborted();
      // The first try may fail because the keep-alive connection was closed.
      await read().catch(read);
      const openMs = clock.uncertaintyMs();
      // If the clock was changed in the meantime, its bounds are lost, so the time limit starts again.
      if (clock.steps() !== steps) untilMs = Math.min(clock.steady() + MAX_READ_MS, endMs);
      steps = clock.steps();
      const hasNoDates = reads >= 3 && !clock.hasDates();
      isFound = openMs <= COARSE_MS || clock.steady() > untilMs || hasNoDates;
      // A correction by the read itself must not count as a change of the clock.
      wasSet();
      if (!isFound) await clock.sleep(Math.min(READ_EVERY_MS, clock.untilSecondMs()), signal);
    }
    const openMs = clock.uncertaintyMs();
    if (isReading || openMs <= FINE_MS || openMs === Number.POSITIVE_INFINITY) return;
    isReading = true;
    // Not awaited. If the table is unavailable, the next caller that needs it reports that.
    backgroundSleep(clock.untilSecondMs())
      .then(read)
      .catch(() => undefined)
      .finally(() => {
        isReading = false;
      });
  };
}

const widthOf = ({ minMs, maxMs }: Bounds = UNKNOWN): number => maxMs - minMs;

const UNKNOWN: Bounds = { minMs: 0, maxMs: Number.POSITIVE_INFINITY, atMs: 0 };

/** The error of a clock with this offset, beyond what the spacing allows for, in milliseconds. */
function errorOf(offsetMs: number, bounds: Bounds | undefined): number {
  const { minMs = offsetMs, maxMs = offsetMs } = bounds ?? {};
  if (offsetMs === 0 && maxMs - minMs <= AGREED_MS) return 0;
  return Math.max(0, offsetMs - minMs - ALLOWED_ERROR_MS, maxMs - offsetMs - ALLOWED_ERROR_MS);
}

const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * The bounds after a response that agrees with them; undefined if it does not. A first response must agree with this
 * machine's clock to within a second.
 */
function agreeing(known: Bounds | undefined, seen: Bounds): Bounds | undefined {
  if (known !== undefined) return joined(known, seen);
  return seen.minMs <= 1_000 && seen.maxMs >= -1_000 ? seen : undefined;
}

/**
 * The bounds of the last three dates, if they agree with each other and contradict the known bounds. A date that
 * does not change comes from a cache, and does not count.
 */
function threeInARow([a, b, c]: readonly DateSeen[], known: Bounds | undefined): Bounds | undefined {
  if (a === undefined || b === undefined || c === undefined) return undefined;
  const isOld = known && (a.dateMs === c.dateMs || [a, b].some((each) => joined(known, boundsOf(each))));
  const two = isOld ? undefined : joined(boundsOf(a), boundsOf(b));
  return two && joined(two, boundsOf(c));
}

const boundsOf = ({ dateMs, sentMs, receivedMs }: DateSeen): Bounds => ({
  minMs: dateMs - receivedMs,
  maxMs: dateMs + 1_000 - sentMs,
  atMs: receivedMs,
});

function widened({ minMs, maxMs, atMs }: Bounds, nowMs: number): Bounds {
  const driftMs = Math.max(0, nowMs - atMs) * DRIFT;
  return { minMs: minMs - driftMs, maxMs: maxMs + driftMs, atMs: nowMs };
}

/**
 * The intersection of both bounds, or the gap between them if they are a little apart; undefined if they contradict
 * each other.
 */
function joined(before: Bounds, seen: Bounds): Bounds | undefined {
  const { minMs, maxMs } = widened(before, seen.atMs);
  const inner = [Math.max(minMs, seen.minMs), Math.min(maxMs, seen.maxMs)] as const;
  if (inner[0] - inner[1] > SERVERS_MS) return undefined;
  return { minMs: Math.min(...inner), maxMs: Math.max(...inner), atMs: seen.atMs };
}

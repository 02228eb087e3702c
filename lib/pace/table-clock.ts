import type { Clock } from './slots.ts';

/** A response of the table: its `Date`, in whole seconds, and when it was requested and received by the clock here. */
export type DateSeen = { readonly dateMs: number; readonly sentMs: number; readonly receivedMs: number };

/** The clock of a process, corrected by what the table's responses say of the time. All times in epoch milliseconds. */
export type TableClock = Clock & {
  saw(seen: DateSeen): void;
  /** Between which bounds the table's time lies; `Infinity` before the first response and after the clock was set. */
  uncertaintyMs(): number;
  /** How long until the table's next second most likely begins. */
  untilSecondMs(): number;
  /** Grows each time that the clock here was set, or the process stood still while it went on. */
  steps(): number;
  /** Corrections count, too. */
  setByMs(): number;
  /** How far off a corrected clock may still be, beyond what the spacing of slots pays for; 0 for one that agrees. */
  doubtMs(): number;
};

export type TableClockOptions = Clock & {
  /** Milliseconds on a clock that is never set. Default: there is none, and a step is seen by the next response only. */
  readonly steady?: (() => number) | undefined;
  /** Called when the clock here is found to be a minute or more off, and when that changes by as much. */
  readonly onClockOff?: ((off: ClockOff) => void) | undefined;
};

/** Times as ISO texts. */
export type ClockOff = { readonly offMs: number; readonly table: string; readonly here: string };

/** How much a clock may gain or lose on another one. */
const DRIFT = 0.000_1;

/** A server may write the second before for a little while, and the clocks of a fleet of servers differ a little. */
const SLACK_MS = 2;

/** Bounds that contradict each other by more show that a clock was set. */
const CONTRADICTION_MS = 200;

/** A clock that moves by more than another one was set. */
const STEP_MS = 50;

/** From here on a clock is reported. */
const REPORTED_MS = 60_000;

/** How far off a clock may be: the spacing of slots pays for it. */
const PAID_MS = 9;

/** A clock that agrees with responses that bound it as closely is taken to be right. */
const AGREED_MS = 40;

/** One response bounds the difference to a second: half of that is the most that both ends of a block leave empty. */
const MOST_DOUBT_MS = 500;

/** What is known of the difference: the table's time is the time here plus something between the two, as of `atMs`. */
type Known = { readonly leastMs: number; readonly mostMs: number; readonly atMs: number };

const NOTHING: Known = { leastMs: Number.NEGATIVE_INFINITY, mostMs: Number.POSITIVE_INFINITY, atMs: 0 };

/**
 * A clock that follows the table's. Each response bounds the difference by a second and the time it took; a response
 * just before the table's second ends and one just after narrow that down. As long as the clock here agrees with
 * everything seen it is left alone, so good clocks stay as they are; otherwise the middle of the bounds is used.
 */
export function createTableClock({ now, sleep, steady, onClockOff }: TableClockOptions): TableClock {
  let known = NOTHING;
  let [offsetMs, reportedMs, stepped] = [0, 0, 0];
  let apartMs: number | undefined;

  const hereMs = () => {
    const atMs = now();
    if (steady === undefined) return atMs;
    const nowApartMs = atMs - steady();
    if (Math.abs(nowApartMs - (apartMs ?? nowApartMs)) > STEP_MS) {
      known = NOTHING;
      stepped += 1;
    }
    apartMs = nowApartMs;
    return atMs;
  };

  const report = (atMs: number) => {
    if (Math.abs(offsetMs - reportedMs) < REPORTED_MS) return;
    reportedMs = offsetMs;
    const toISO = (ms: number) => new Date(ms).toISOString();
    onClockOff?.({ offMs: Math.round(-offsetMs), table: toISO(atMs + offsetMs), here: toISO(atMs) });
  };

  const uncertaintyMs = () => {
    const { leastMs, mostMs } = widened(known, hereMs());
    return mostMs - leastMs;
  };

  return {
    now: () => hereMs() + offsetMs,
    sleep,
    saw(seen) {
      hereMs();
      known = narrowed(known, seen);
      const { leastMs, mostMs } = known;
      const agrees = offsetMs === 0 && leastMs <= 0 && mostMs >= 0;
      if (!agrees) offsetMs = (leastMs + mostMs) / 2;
      report(seen.receivedMs);
    },
    uncertaintyMs,
    doubtMs: () => doubtOf(widened(known, hereMs()), offsetMs),
    untilSecondMs() {
      const { leastMs, mostMs } = known;
      const middleMs = Number.isFinite(leastMs) ? (leastMs + mostMs) / 2 : offsetMs;
      return 1000 - ((hereMs() + middleMs) % 1000);
    },
    steps: () => stepped,
    setByMs: () => {
      hereMs();
      return offsetMs + (apartMs ?? 0);
    },
  };
}

function doubtOf({ leastMs, mostMs }: Known, offsetMs: number): number {
  // Nothing is known where responses have no `Date`.
  if (!Number.isFinite(mostMs - leastMs)) return 0;
  if (offsetMs === 0 && mostMs - leastMs <= AGREED_MS) return 0;
  const mostOffMs = Math.max(offsetMs - leastMs, mostMs - offsetMs);
  return Math.min(MOST_DOUBT_MS, Math.max(0, mostOffMs - PAID_MS));
}

/** Drift widens what is known. */
function widened({ leastMs, mostMs, atMs }: Known, nowMs: number): Known {
  const driftMs = Math.max(0, nowMs - atMs) * DRIFT;
  return { leastMs: leastMs - driftMs, mostMs: mostMs + driftMs, atMs: nowMs };
}

function narrowed(known: Known, { dateMs, sentMs, receivedMs }: DateSeen): Known {
  const before = widened(known, receivedMs);
  const seen = {
    leastMs: dateMs - receivedMs - SLACK_MS,
    mostMs: dateMs + 1000 - sentMs + SLACK_MS,
    atMs: receivedMs,
  };
  const leastMs = Math.max(before.leastMs, seen.leastMs);
  const mostMs = Math.min(before.mostMs, seen.mostMs);
  if (leastMs - mostMs > CONTRADICTION_MS) return seen;
  // A little apart: the truth lies between the two.
  return { leastMs: Math.min(leastMs, mostMs), mostMs: Math.max(leastMs, mostMs), atMs: receivedMs };
}

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
  /** Grows each time that the clock here was set, by whomever, or the process stood still while it went on. */
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

/** Bounds that contradict each other by more are of different times. */
const CONTRADICTION_MS = 25;

/** A first response that is no further from the clock here agrees with it. */
const AGREES_MS = 1_000;

/** So many responses in a row that agree with one another are believed, whatever was believed before. */
const BELIEVED_IN_A_ROW = 3;

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

/** The clock here is right. */
const HERE: Known = { leastMs: 0, mostMs: 0, atMs: Number.POSITIVE_INFINITY };

/** Responses in a row that contradict what is known and agree with one another, and the `Date` of the first. */
type Row = { readonly known: Known; readonly length: number; readonly dateMs: number };

/**
 * A clock that follows the table's. Each response bounds the difference by a second and the time it took; a response
 * just before the table's second ends and one just after narrow that down. As long as the clock here agrees with
 * everything seen it is left alone, so good clocks stay as they are; otherwise the middle of the bounds is used.
 */
export function createTableClock({ now, sleep, steady, onClockOff }: TableClockOptions): TableClock {
  const belief = createBelief();
  const report = createReport(onClockOff);
  let [offsetMs, stepped] = [0, 0];
  let apartMs: number | undefined;

  const hereMs = () => {
    const atMs = now();
    if (steady === undefined) return atMs;
    const nowApartMs = atMs - steady();
    if (Math.abs(nowApartMs - (apartMs ?? nowApartMs)) > STEP_MS) {
      belief.forget();
      stepped += 1;
    }
    apartMs = nowApartMs;
    return atMs;
  };

  const uncertaintyMs = () => {
    const { leastMs, mostMs } = widened(belief.known(), hereMs());
    return mostMs - leastMs;
  };

  return {
    now: () => hereMs() + offsetMs,
    sleep,
    saw(seen) {
      hereMs();
      const heard = belief.hear(seen);
      if (heard === 'doubted') return;
      if (heard === 'replaced') stepped += 1;
      const { leastMs, mostMs } = belief.known();
      const agrees = offsetMs === 0 && leastMs <= 0 && mostMs >= 0;
      if (!agrees) offsetMs = (leastMs + mostMs) / 2;
      report(seen.receivedMs, offsetMs);
    },
    uncertaintyMs,
    doubtMs: () => doubtOf(widened(belief.known(), hereMs()), offsetMs),
    untilSecondMs: () => 1000 - ((hereMs() + middleOf(belief.known(), offsetMs)) % 1000),
    steps: () => stepped,
    setByMs: () => {
      hereMs();
      return offsetMs + (apartMs ?? 0);
    },
  };
}

function createReport(onClockOff: TableClockOptions['onClockOff']) {
  let reportedMs = 0;
  return (atMs: number, offsetMs: number) => {
    if (Math.abs(offsetMs - reportedMs) < REPORTED_MS) return;
    reportedMs = offsetMs;
    const toISO = (ms: number) => new Date(ms).toISOString();
    onClockOff?.({ offMs: Math.round(-offsetMs), table: toISO(atMs + offsetMs), here: toISO(atMs) });
  };
}

const middleOf = ({ leastMs, mostMs }: Known, otherwiseMs: number): number =>
  Number.isFinite(leastMs) ? (leastMs + mostMs) / 2 : otherwiseMs;

/**
 * What is believed. A `Date` may be wrong: the first is believed if it agrees with the clock here to a second, a later one
 * if it agrees with what is known, and any other once three in a row agree with one another and, where something was
 * known, are not all the same: a `Date` from a cache, which stands still, is not followed.
 */
function createBelief() {
  let known = NOTHING;
  let row: Row | undefined;
  return {
    known: () => known,
    forget() {
      [known, row] = [NOTHING, undefined];
    },
    hear(seen: DateSeen): 'agreed' | 'replaced' | 'doubted' {
      const bounds = boundsOf(seen);
      const isFirst = known === NOTHING;
      if (isFirst ? isNear(HERE, bounds, AGREES_MS) : isNear(known, bounds)) {
        [known, row] = [joined(known, bounds), undefined];
        return 'agreed';
      }
      row =
        row !== undefined && isNear(row.known, bounds)
          ? { ...row, known: joined(row.known, bounds), length: row.length + 1 }
          : { known: bounds, length: 1, dateMs: seen.dateMs };
      const isMoving = isFirst || seen.dateMs !== row.dateMs;
      if (row.length < BELIEVED_IN_A_ROW || !isMoving) return 'doubted';
      [known, row] = [row.known, undefined];
      return 'replaced';
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

const boundsOf = ({ dateMs, sentMs, receivedMs }: DateSeen): Known => ({
  leastMs: dateMs - receivedMs - SLACK_MS,
  mostMs: dateMs + 1000 - sentMs + SLACK_MS,
  atMs: receivedMs,
});

function isNear(known: Known, bounds: Known, mostMs = CONTRADICTION_MS): boolean {
  const before = widened(known, bounds.atMs);
  return Math.max(before.leastMs, bounds.leastMs) - Math.min(before.mostMs, bounds.mostMs) <= mostMs;
}

/** What both say; the truth lies between two that are a little apart. */
function joined(known: Known, bounds: Known): Known {
  const before = widened(known, bounds.atMs);
  const leastMs = Math.max(before.leastMs, bounds.leastMs);
  const mostMs = Math.min(before.mostMs, bounds.mostMs);
  return { leastMs: Math.min(leastMs, mostMs), mostMs: Math.max(leastMs, mostMs), atMs: bounds.atMs };
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type Clock, watchSteps } from './slots.ts';

/** A response of the table: its `Date`, in whole seconds, and when it was requested and received by the clock here. */
export type DateSeen = { readonly dateMs: number; readonly sentMs: number; readonly receivedMs: number };

/** The clock of a process, corrected by what the table's responses say of the time. All times in epoch milliseconds. */
export type TableClock = Required<Clock> & {
  readonly steady: () => number;
  saw(seen: DateSeen): void;
  /** Between which bounds the table's time lies; `Infinity` before a response is believed, and after a step. */
  uncertaintyMs(): number;
  /** How long until the table's next second most likely begins. */
  untilSecondMs(): number;
};

export type TableClockOptions = Pick<Clock, 'now' | 'sleep'> & {
  /** Milliseconds on a clock that is never set. Default: `now`. */
  readonly steady?: (() => number) | undefined;
  /** Called when the clock here is found to be a minute or more off, and when that changes by as much. */
  readonly onClockOff?: ((off: ClockOff) => void) | undefined;
};

/** Times as ISO texts. */
export type ClockOff = { readonly offMs: number; readonly table: string; readonly here: string };

/** How much a clock may gain or lose on another one. */
const DRIFT = 0.000_1;

/** Bounds that are further apart contradict each other: servers differ a little. */
const CONTRADICTION_MS = 25;

/** The spacing of slots pays for so much; nor is more left empty for a clock that agrees to within `AGREED_MS`. */
const PAID_MS = 9;
const AGREED_MS = 40;

/** From here on a clock is reported. */
const REPORTED_MS = 60_000;

/** The table's time is the time here plus something between the two, as of `atMs`. */
type Bounds = { readonly leastMs: number; readonly mostMs: number; readonly atMs: number };

type Belief = {
  readonly known?: Bounds | undefined;
  /** Responses in a row that contradict that and agree with one another, and the `Date` of the first. */
  readonly row?: { readonly bounds: Bounds; readonly length: number; readonly dateMs: number };
};

/** A clock that follows the table's: the time here as long as that agrees with what was seen, else the middle of it. */
export function createTableClock({ now, sleep, steady = now, onClockOff }: TableClockOptions): TableClock {
  let belief: Belief = {};
  let [offsetMs, reportedMs] = [0, 0];
  const wasSet = watchSteps({ now, steady });
  const hereMs = () => {
    if (wasSet()) belief = {};
    return now();
  };
  const bounds = (otherwise: Pick<Bounds, 'leastMs' | 'mostMs'>) => {
    const atMs = hereMs();
    return belief.known === undefined ? otherwise : widened(belief.known, atMs);
  };

  return {
    now: () => hereMs() + offsetMs,
    sleep,
    steady,
    saw({ dateMs, sentMs, receivedMs }) {
      hereMs();
      const seen = { leastMs: dateMs - receivedMs, mostMs: dateMs + 1_000 - sentMs, atMs: receivedMs };
      belief = heard(belief, seen, dateMs);
      const { known, row } = belief;
      if (known === undefined || row !== undefined) return;
      const agrees = offsetMs === 0 && known.leastMs <= 0 && known.mostMs >= 0;
      if (!agrees) offsetMs = (known.leastMs + known.mostMs) / 2;
      if (Math.abs(offsetMs - reportedMs) < REPORTED_MS) return;
      reportedMs = offsetMs;
      onClockOff?.({
        offMs: Math.round(-offsetMs),
        table: iso(receivedMs + offsetMs),
        here: iso(receivedMs),
      });
    },
    uncertaintyMs() {
      const { leastMs, mostMs } = bounds({ leastMs: 0, mostMs: Number.POSITIVE_INFINITY });
      return mostMs - leastMs;
    },
    doubtMs() {
      const { leastMs, mostMs } = bounds({ leastMs: offsetMs, mostMs: offsetMs });
      if (offsetMs === 0 && mostMs - leastMs <= AGREED_MS) return 0;
      return Math.max(0, Math.max(offsetMs - leastMs, mostMs - offsetMs) - PAID_MS);
    },
    untilSecondMs() {
      const { leastMs, mostMs } = bounds({ leastMs: offsetMs, mostMs: offsetMs });
      return 1_000 - ((now() + (leastMs + mostMs) / 2) % 1_000);
    },
  };
}

/** A first `Date` is believed if it agrees with the clock here, and one that contradicts once three in a row agree. */
function heard({ known, row }: Belief, seen: Bounds, dateMs: number): Belief {
  if (isNear(known ?? { leastMs: -1_000, mostMs: 1_000, atMs: seen.atMs }, seen))
    return { known: joined(known ?? seen, seen) };
  const begun = row !== undefined && isNear(row.bounds, seen) ? row : { bounds: seen, length: 0, dateMs };
  const grown = { ...begun, bounds: joined(begun.bounds, seen), length: begun.length + 1 };
  // Where the time was known, one that stands still comes from a cache.
  const isBelieved = grown.length >= 3 && (known === undefined || dateMs !== grown.dateMs);
  return isBelieved ? { known: grown.bounds } : { known, row: grown };
}

const iso = (ms: number): string => new Date(ms).toISOString();

function widened({ leastMs, mostMs, atMs }: Bounds, nowMs: number): Bounds {
  const driftMs = Math.max(0, nowMs - atMs) * DRIFT;
  return { leastMs: leastMs - driftMs, mostMs: mostMs + driftMs, atMs: nowMs };
}

function isNear(before: Bounds, seen: Bounds): boolean {
  const { leastMs, mostMs } = widened(before, seen.atMs);
  return Math.max(leastMs, seen.leastMs) - Math.min(mostMs, seen.mostMs) <= CONTRADICTION_MS;
}

/** What both say; the truth lies between two that are a little apart. */
function joined(before: Bounds, seen: Bounds): Bounds {
  const { leastMs, mostMs } = widened(before, seen.atMs);
  const inner = [Math.max(leastMs, seen.leastMs), Math.min(mostMs, seen.mostMs)];
  return { leastMs: Math.min(...inner), mostMs: Math.max(...inner), atMs: seen.atMs };
}

type DateWatcher = { readonly now: () => number; readonly listener: (seen: DateSeen) => void };

/** Reports when each response of a client was requested and received by `now`, and its `Date`; none that has an `Age`. */
export function reportDates({ middlewareStack }: DynamoDBClient, { now, listener }: DateWatcher): void {
  middlewareStack.add(
    (next) => async (args) => {
      const sentMs = now();
      const result = await next(args);
      const { date = '', age } = (result.response as { headers: Record<string, string | undefined> }).headers;
      const dateMs = Date.parse(date);
      if (age === undefined && !Number.isNaN(dateMs)) listener({ dateMs, sentMs, receivedMs: now() });
      return result;
    },
    // Around the exchange alone, and before a refusal becomes an error.
    { step: 'deserialize', priority: 'low' },
  );
}

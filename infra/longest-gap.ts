import { cronTimes } from './cron-times.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

/** The first year that is examined: fixed, so that a template depends only on the configuration. */
export const FIRST_YEAR = 2026;

/** The number of years that are examined. For crons that rarely run, the years include at least two leap years. */
const YEARS_EXAMINED = 3;
const YEARS_EXAMINED_IF_RARE = 12;
/** A cron with a gap of half a year or more rarely runs. */
const RARE_GAP_HOURS = 4_380;

/**
 * The longest time between two runs of a valid cron expression in a time zone, in hours, rounded up; a 25-hour day
 * counts as 25 hours. Infinity if there are fewer than two runs in the examined years.
 */
export function longestGapHours(expression: string, timeZone: string): number {
  const hours = longestGapIn(YEARS_EXAMINED, expression, timeZone);
  return hours < RARE_GAP_HOURS ? hours : longestGapIn(YEARS_EXAMINED_IF_RARE, expression, timeZone);
}

/** Whether a valid cron expression has no date in the examined years, as with the 30th of February or a past year. */
export function neverRuns(expression: string): boolean {
  const { years, isOn } = cronTimes(expression);
  for (const [year, month, day] of daysOf(futureOf(years, YEARS_EXAMINED_IF_RARE)))
    if (isOn(year, month, day)) return false;
  return true;
}

const futureOf = (years: readonly number[], maxYears: number) =>
  years.filter((year) => year >= FIRST_YEAR).slice(0, maxYears);

function longestGapIn(maxYears: number, expression: string, timeZone: string): number {
  const { minutes, years, isOn } = cronTimes(expression);
  const [first = 0] = minutes;
  const last = minutes.at(-1) ?? 0;
  const utc = utcOf(timeZone);
  let longest = Math.max(0, ...minutes.slice(1).map((minute, index) => minute - (minutes[index] ?? 0)));
  let before: number | undefined;
  for (const [year, month, day] of daysOf(futureOf(years, maxYears))) {
    if (!isOn(year, month, day)) continue;
    const midnight = Date.UTC(year, month - 1, day) / MINUTE_MS;
    if (before !== undefined) longest = Math.max(longest, utc(midnight + first) - before);
    before = utc(midnight + last);
  }
  return longest === 0 ? Number.POSITIVE_INFINITY : Math.ceil(longest / 60);
}

function* daysOf(years: readonly number[]) {
  for (const year of years)
    for (let minute = Date.UTC(year) / MINUTE_MS; ; minute += DAY_MINUTES) {
      const day = new Date(minute * MINUTE_MS);
      if (day.getUTCFullYear() !== year) break;
      yield [year, day.getUTCMonth() + 1, day.getUTCDate()] as const;
    }
}

/** Creates a function that converts the local time of a zone to UTC, both in minutes since 1970. */
function utcOf(timeZone: string): (local: number) => number {
  const offsetAt = zones.get(timeZone) ?? offsetsOf(timeZone);
  zones.set(timeZone, offsetAt);
  return (local) => local - offsetAt(local - offsetAt(local));
}

/** Returns how many minutes a zone is ahead of UTC at a time, in minutes since 1970 in UTC. */
type OffsetAt = (minute: number) => number;

/** Offsets by time zone, since a configuration may have a hundred schedules in one zone. */
const zones = new Map<string, OffsetAt>();

/**
 * The offsets of a zone. A day that begins and ends with the same offset is assumed to have this offset throughout,
 * since the formatter is slow.
 */
function offsetsOf(timeZone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, timeZoneName: 'longOffset' });
  const formatted = (minute: number) => {
    const { value = '' } =
      format.formatToParts(minute * MINUTE_MS).find(({ type }) => type === 'timeZoneName') ?? {};
    const [, sign, hours = 0, minutes = 0] = /([+-])(\d\d):(\d\d)/.exec(value) ?? [];
    return (sign === '-' ? -1 : 1) * (60 * Number(hours) + Number(minutes));
  };
  const days = new Map<number, number>();
  const atMidnight = (day: number) => {
    const offset = days.get(day) ?? formatted(day * DAY_MINUTES);
    days.set(day, offset);
    return offset;
  };
  return (minute) => {
    const day = Math.floor(minute / DAY_MINUTES);
    const offset = atMidnight(day);
    return offset === atMidnight(day + 1) ? offset : formatted(minute);
  };
}

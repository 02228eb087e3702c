import { type CronField, cronFields } from './cron.ts';

/** The times of a valid cron expression: minutes of a day, and days. */
type CronTimes = {
  /** The minutes of a day, in ascending order. */
  readonly minutes: readonly number[];
  readonly years: readonly number[];
  /** Whether the cron runs on a day; January is month 1. */
  readonly isOn: (year: number, month: number, day: number) => boolean;
};

/** Parses an expression that `cronFaults` accepts. */
export function cronTimes(expression: string): CronTimes {
  const [minute, hour, dayOfMonth = '', month, dayOfWeek = '', year] = expression.split(' ');
  const [ofMinute, ofHour, ofDay, ofMonth, ofWeekday, ofYear] = cronFields;
  const minutes = valuesOf(ofMinute, minute);
  const months = new Set(valuesOf(ofMonth, month));
  const isDay = dayOfMonth === '?' ? weekdays(ofWeekday, dayOfWeek) : daysOfMonth(ofDay, dayOfMonth);
  return {
    minutes: valuesOf(ofHour, hour).flatMap((each) => minutes.map((after) => 60 * each + after)),
    years: valuesOf(ofYear, year),
    isOn: (inYear, inMonth, day) => months.has(inMonth) && isDay(inYear, inMonth, day),
  };
}

/** The numbers of a list of values, ranges and steps, in ascending order. */
function valuesOf({ min, max, names = [] }: CronField, text = '*'): readonly number[] {
  const numberOf = (value: string) => (names.includes(value) ? min + names.indexOf(value) : Number(value));
  const values = text
    .toUpperCase()
    .split(',')
    .flatMap((item) => {
      const [range = '', step = '1'] = item.split('/');
      const [first = '', last] = range === '*' ? [String(min), String(max)] : range.split('-');
      const from = numberOf(first);
      const to = last === undefined ? (item.includes('/') ? max : from) : numberOf(last);
      // A range such as FRI-MON passes the end and continues at the start.
      const length = to >= from ? to - from + 1 : max - min + 1 - (from - to - 1);
      const all = Array.from({ length }, (_, index) => min + ((from - min + index) % (max - min + 1)));
      return all.filter((_, index) => index % Number(step) === 0);
    });
  return [...new Set(values)].sort((a, b) => a - b);
}

type IsDay = (year: number, month: number, day: number) => boolean;

const lastDay = (year: number, month: number) => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** The weekday of a date; Sunday is 1. January is month 1. */
const weekdayOf = (year: number, month: number, day: number) =>
  new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;

const isWorkday = (year: number, month: number, day: number) => ![1, 7].includes(weekdayOf(year, month, day));

/**
 * Parses days of the month: a list, the last day (L), or the workday of the month that is nearest to a day (15W, LW).
 */
function daysOfMonth(field: CronField, text: string): IsDay {
  if (text === 'L') return (year, month, day) => day === lastDay(year, month);
  if (text.endsWith('W')) {
    const nearTo = text.slice(0, -1);
    return (year, month, day) =>
      day === nearestWorkday(year, month, nearTo === 'L' ? lastDay(year, month) : Number(nearTo));
  }
  const days = new Set(valuesOf(field, text));
  return (_year, _month, day) => days.has(day);
}

function nearestWorkday(year: number, month: number, day: number): number {
  const last = lastDay(year, month);
  const nearest = [day, day - 1, day + 1, day - 2, day + 2].find(
    (each) => each >= 1 && each <= last && isWorkday(year, month, each),
  );
  return day > last || nearest === undefined ? 0 : nearest;
}

/** Parses weekdays: a list, the last Friday of the month (6L), or its second Friday (6#2). */
function weekdays(field: CronField, text: string): IsDay {
  const [, kind = '', special] = /^(.+?)(L|#\d)$/.exec(text) ?? [];
  const numbers = new Set(valuesOf(field, text === 'L' ? 'SAT' : special === undefined ? text : kind));
  return (year, month, day) => {
    if (!numbers.has(weekdayOf(year, month, day))) return false;
    if (special === undefined) return true;
    return special === 'L' ? day + 7 > lastDay(year, month) : Math.ceil(day / 7) === Number(special.slice(1));
  };
}

import { type CodePackage, codeFunction } from './code-package.ts';
import { listOf, one, orNull } from './types.ts';

const addNumbers = codeFunction(
  { first: one('number'), second: one('number') },
  one('number'),
  'function addNumbers(first, second) { return first + second; }',
);

const normalizePhone = codeFunction(
  { phone: one('text'), countryCode: orNull(one('text')) },
  orNull(one('text')),
  `function normalizePhone(phone, countryCode) {
    const digits = phone.replace(/\\D/g, '');
    const international = /^\\s*(\\+|00)/.test(phone);
    const national = digits.replace(/^0+/, '');
    const full = international ? national : (countryCode ?? '1').replace(/\\D/g, '') + national;
    if (full.length < 8 || full.length > 15) {
      console.error('not a phone number', { digits: digits.length });
      return null;
    }
    return '+' + full;
  }`,
);

const slugify = codeFunction(
  { title: one('text') },
  one('text'),
  `function slugify(title) {
    const plain = title.normalize('NFKD').replace(/[\\u0300-\\u036f]/g, '').toLowerCase();
    return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  }`,
);

const businessDays = codeFunction(
  { start: one('date'), end: one('date'), holidays: orNull(listOf('date')) },
  one('number'),
  `function businessDays(start, end, holidays) {
    const free = new Set(holidays ?? []);
    let count = 0;
    for (let day = Date.parse(start); day <= Date.parse(end); day += 86400000) {
      const date = new Date(day);
      const weekday = date.getUTCDay();
      if (weekday !== 0 && weekday !== 6 && !free.has(date.toISOString().slice(0, 10))) count += 1;
    }
    console.log('business days from ' + start + ' to ' + end + ': ' + count);
    return count;
  }`,
);

const isWeekend = codeFunction(
  { date: one('date') },
  one('boolean'),
  'function isWeekend(date) { return [0, 6].includes(new Date(date).getUTCDay()); }',
);

const dedupeRows = codeFunction(
  { rows: listOf('object'), keys: listOf('text') },
  listOf('object'),
  `function dedupeRows(rows, keys) {
    const seen = new Set();
    const kept = rows.filter((row) => {
      const key = JSON.stringify(keys.map((name) => row[name] ?? null));
      return !seen.has(key) && seen.add(key);
    });
    console.log({ rows: rows.length, kept: kept.length });
    return kept;
  }`,
);

const forecast = codeFunction(
  { history: listOf('decimal'), periods: one('number') },
  listOf('decimal'),
  `function forecast(history, periods) {
    if (history.length < 2) throw new RangeError('history needs at least 2 values, got ' + history.length);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    const middle = (history.length - 1) / 2;
    const level = mean(history);
    const spread = mean(history.map((_, at) => (at - middle) ** 2));
    const slope = mean(history.map((value, at) => (at - middle) * (value - level))) / spread;
    console.log('least squares', { level, slope });
    const ahead = Array.from({ length: periods }, (_, step) => history.length + step - middle);
    return ahead.map((distance) => Math.round((level + slope * distance) * 100) / 100);
  }`,
);

const growthRate = codeFunction(
  { previous: one('decimal'), current: one('decimal') },
  orNull(one('decimal')),
  `function growthRate(previous, current) {
    return previous === 0 ? null : (current - previous) / Math.abs(previous);
  }`,
);

const latestDate = codeFunction(
  { dates: listOf('date') },
  orNull(one('date')),
  'function latestDate(dates) { return [...dates].sort().at(-1) ?? null; }',
);

const startOfHour = codeFunction(
  { moment: one('dateTime') },
  one('dateTime'),
  `function startOfHour(moment) {
    return new Date(Math.floor(Date.parse(moment) / 3600000) * 3600000);
  }`,
);

const timeBetween = codeFunction(
  { start: one('dateTime'), end: one('dateTime') },
  one('duration'),
  `function timeBetween(start, end) {
    const seconds = Math.round((Date.parse(end) - Date.parse(start)) / 1000);
    return (seconds < 0 ? '-' : '') + 'PT' + Math.abs(seconds) + 'S';
  }`,
);

const addMinutes = codeFunction(
  { time: one('time'), minutes: one('number') },
  one('time'),
  `function addMinutes(time, minutes) {
    const [hour, minute] = time.split(':').map(Number);
    const total = (((hour * 60 + minute + minutes) % 1440) + 1440) % 1440;
    return [Math.floor(total / 60), total % 60].map((part) => String(part).padStart(2, '0')).join(':');
  }`,
);

const summarize = codeFunction(
  { values: listOf('decimal') },
  one('object'),
  `async function summarize(values) {
    const sum = values.reduce((total, value) => total + value, 0);
    await null;
    if (values.length === 0) return { count: 0, sum: 0, mean: null, min: null, max: null };
    return { count: values.length, sum, mean: sum / values.length, min: Math.min(...values), max: Math.max(...values) };
  }`,
);

const seasonalForecast = codeFunction(
  { history: listOf('decimal'), periods: one('number'), season: one('number') },
  listOf('decimal'),
  `function forecast(history, periods, season) {
    return Array.from({ length: periods }, (_, step) => history.at((step % season) - season));
  }`,
);

const first = [addNumbers, normalizePhone, slugify, businessDays, isWeekend, dedupeRows];
const second = [...first, forecast, growthRate, latestDate, startOfHour, timeBetween, addMinutes, summarize];

/** The everyday functions of an analytics team. 2.0.0, with a seasonal `forecast`, is not released. */
export const analyticsToolkit = {
  id: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  name: 'Analytics Toolkit',
  versions: [
    { version: '1.0.0', released: true, functions: first },
    { version: '1.1.0', released: true, functions: second },
    { version: '2.0.0', released: false, functions: [...first, seasonalForecast] },
  ],
} as const satisfies CodePackage;

import type { CodeFunction, CodePackage } from './code-package.ts';
import { listOf, one, orNull } from './types.ts';

const addNumbers: CodeFunction = {
  name: 'addNumbers',
  inputs: [
    { name: 'first', ...one('number') },
    { name: 'second', ...one('number') },
  ],
  output: one('number'),
  source: 'function addNumbers(first, second) { return first + second; }',
};

const normalizePhone: CodeFunction = {
  name: 'normalizePhone',
  inputs: [
    { name: 'phone', ...one('text') },
    { name: 'countryCode', ...orNull(one('text')) },
  ],
  output: orNull(one('text')),
  source: `function normalizePhone(phone, countryCode) {
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
};

const slugify: CodeFunction = {
  name: 'slugify',
  inputs: [{ name: 'title', ...one('text') }],
  output: one('text'),
  source: `function slugify(title) {
    const plain = title.normalize('NFKD').replace(/[\\u0300-\\u036f]/g, '').toLowerCase();
    return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '');
  }`,
};

const businessDays: CodeFunction = {
  name: 'businessDays',
  inputs: [
    { name: 'start', ...one('date') },
    { name: 'end', ...one('date') },
    { name: 'holidays', ...orNull(listOf('date')) },
  ],
  output: one('number'),
  source: `function businessDays(start, end, holidays) {
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
};

const isWeekend: CodeFunction = {
  name: 'isWeekend',
  inputs: [{ name: 'date', ...one('date') }],
  output: one('boolean'),
  source: 'function isWeekend(date) { return [0, 6].includes(new Date(date).getUTCDay()); }',
};

const dedupeRows: CodeFunction = {
  name: 'dedupeRows',
  inputs: [
    { name: 'rows', ...listOf('object') },
    { name: 'keys', ...listOf('text') },
  ],
  output: listOf('object'),
  source: `function dedupeRows(rows, keys) {
    const seen = new Set();
    const kept = rows.filter((row) => {
      const key = JSON.stringify(keys.map((name) => row[name] ?? null));
      return !seen.has(key) && seen.add(key);
    });
    console.log({ rows: rows.length, kept: kept.length });
    return kept;
  }`,
};

const forecast: CodeFunction = {
  name: 'forecast',
  inputs: [
    { name: 'history', ...listOf('decimal') },
    { name: 'periods', ...one('number') },
  ],
  output: listOf('decimal'),
  source: `function forecast(history, periods) {
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
};

const growthRate: CodeFunction = {
  name: 'growthRate',
  inputs: [
    { name: 'previous', ...one('decimal') },
    { name: 'current', ...one('decimal') },
  ],
  output: orNull(one('decimal')),
  source: `function growthRate(previous, current) {
    return previous === 0 ? null : (current - previous) / Math.abs(previous);
  }`,
};

const latestDate: CodeFunction = {
  name: 'latestDate',
  inputs: [{ name: 'dates', ...listOf('date') }],
  output: orNull(one('date')),
  source: 'function latestDate(dates) { return [...dates].sort().at(-1) ?? null; }',
};

const startOfHour: CodeFunction = {
  name: 'startOfHour',
  inputs: [{ name: 'moment', ...one('dateTime') }],
  output: one('dateTime'),
  source: `function startOfHour(moment) {
    return new Date(Math.floor(Date.parse(moment) / 3600000) * 3600000);
  }`,
};

const timeBetween: CodeFunction = {
  name: 'timeBetween',
  inputs: [
    { name: 'start', ...one('dateTime') },
    { name: 'end', ...one('dateTime') },
  ],
  output: one('duration'),
  source: `function timeBetween(start, end) {
    const seconds = Math.round((Date.parse(end) - Date.parse(start)) / 1000);
    return (seconds < 0 ? '-' : '') + 'PT' + Math.abs(seconds) + 'S';
  }`,
};

const addMinutes: CodeFunction = {
  name: 'addMinutes',
  inputs: [
    { name: 'time', ...one('time') },
    { name: 'minutes', ...one('number') },
  ],
  output: one('time'),
  source: `function addMinutes(time, minutes) {
    const [hour, minute] = time.split(':').map(Number);
    const total = (((hour * 60 + minute + minutes) % 1440) + 1440) % 1440;
    return [Math.floor(total / 60), total % 60].map((part) => String(part).padStart(2, '0')).join(':');
  }`,
};

const summarize: CodeFunction = {
  name: 'summarize',
  inputs: [{ name: 'values', ...listOf('decimal') }],
  output: one('object'),
  source: `async function summarize(values) {
    const sum = values.reduce((total, value) => total + value, 0);
    await null;
    if (values.length === 0) return { count: 0, sum: 0, mean: null, min: null, max: null };
    return { count: values.length, sum, mean: sum / values.length, min: Math.min(...values), max: Math.max(...values) };
  }`,
};

const seasonalForecast: CodeFunction = {
  name: 'forecast',
  inputs: [...forecast.inputs, { name: 'season', ...one('number') }],
  output: listOf('decimal'),
  source: `function forecast(history, periods, season) {
    return Array.from({ length: periods }, (_, step) => history.at((step % season) - season));
  }`,
};

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

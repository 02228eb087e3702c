import {
  type CodeFunction,
  type CodePackage,
  type DeclaredType,
  listOf,
  one,
  orNull,
} from './code-package.ts';

/** Creates a code function. It has the name of the function in `source`. */
function codeFunction(
  inputs: Readonly<Record<string, DeclaredType>>,
  output: DeclaredType,
  source: string,
  reads?: 'formulas',
): CodeFunction {
  const [, name = ''] = /^(?:async )?function (\w+)/.exec(source) ?? [];
  return {
    name,
    inputs: Object.entries(inputs).map(([input, type]) => ({ name: input, ...type })),
    output,
    source,
    reads,
  };
}

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

const firstRelease = [addNumbers, normalizePhone, slugify, businessDays, isWeekend, dedupeRows];

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

const listFormulas = codeFunction(
  { datasetId: orNull(one('text')) },
  listOf('object'),
  `function listFormulas(datasetId, formulas) {
    const listed = formulas.filter((each) => datasetId === null || each.datasetId === datasetId);
    console.log(listed.length + ' formulas');
    return listed;
  }`,
  'formulas',
);

const secondRelease = [
  ...firstRelease,
  forecast,
  growthRate,
  latestDate,
  startOfHour,
  timeBetween,
  addMinutes,
  summarize,
  listFormulas,
];

const seasonalForecast = codeFunction(
  { history: listOf('decimal'), periods: one('number'), season: one('number') },
  listOf('decimal'),
  `function forecast(history, periods, season) {
    return Array.from({ length: periods }, (_, step) => history.at((step % season) - season));
  }`,
);

/** The everyday functions of an analytics team. Version 2.0.0, with a seasonal `forecast`, is not released. */
const analyticsToolkit = {
  id: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  name: 'Analytics Toolkit',
  versions: [
    { version: '1.0.0', released: true, functions: firstRelease },
    { version: '1.1.0', released: true, functions: secondRelease },
    { version: '2.0.0', released: false, functions: [...firstRelease, seasonalForecast] },
  ],
} as const satisfies CodePackage;

const throwsError = codeFunction(
  { message: orNull(one('text')) },
  one('text'),
  `function throwsError(message) {
    console.log('about to throw');
    throw new RangeError(message ?? 'it went wrong on purpose');
  }`,
);

const rejectsLater = codeFunction(
  {},
  one('text'),
  `async function rejectsLater() { await null; throw new Error('rejected on purpose'); }`,
);

const neverSettles = codeFunction(
  {},
  one('text'),
  'function neverSettles() { return new Promise(() => {}); }',
);

const returnsWrongType = codeFunction(
  {},
  one('number'),
  `function returnsWrongType() { return ['one', 'two']; }`,
);

const returnsNull = codeFunction({}, listOf('date'), 'function returnsNull() { return null; }');

const returnsNothing = codeFunction({}, one('text'), 'function returnsNothing() {}');

const loopsForever = codeFunction(
  {},
  one('number'),
  'function loopsForever() { for (;;) { try { for (;;) {} } catch {} } }',
);

const waitsForever = codeFunction(
  {},
  one('number'),
  `function waitsForever() {
    const work = () => { for (let step = 0; step < 20000; step += 1); };
    const again = () => Promise.resolve().then(work).then(again, again);
    return again();
  }`,
);

const eatsMemory = codeFunction(
  {},
  one('number'),
  `function eatsMemory() {
    const blocks = [];
    for (;;) blocks.push(new Uint8Array(1024 * 1024).fill(blocks.length));
  }`,
);

const callsItself = codeFunction({}, one('number'), 'function callsItself() { return callsItself() + 1; }');

const nestsTooDeep = codeFunction(
  {},
  one('object'),
  `function nestsTooDeep() {
    let nest = {};
    for (let depth = 0; depth < 100000; depth += 1) nest = { nest };
    return nest;
  }`,
);

const logsMuch = codeFunction(
  { count: one('number') },
  one('number'),
  `function logsMuch(count) {
    console.log('rows', count);
    console.log(count);
    console.log({ count, tags: ['a', 'b'] });
    for (let row = 0; row < count; row += 1) console.log('row ' + row);
    console.error('no errors', true, null);
    console.warn(new TypeError('only a warning'));
    return count;
  }`,
);

const reportsGlobals = codeFunction(
  {},
  one('object'),
  `function reportsGlobals() {
    const before = globalThis.visits ?? 0;
    globalThis.visits = before + 1;
    const names = ['process', 'require', 'module', 'fetch', 'WebAssembly', 'setTimeout', 'XMLHttpRequest'];
    return { visits: before, found: names.filter((name) => name in globalThis) };
  }`,
);

const echo = codeFunction(
  { value: orNull(one('object')) },
  orNull(one('object')),
  'function echo(value) { return value; }',
);

/** Functions that end in every possible way, for testing clients of the platform. */
const runtimeTrials = {
  id: 'b0a94e17-52c3-4d8f-a6e1-07d3f9c2b856',
  name: 'Runtime Trials',
  versions: [
    {
      version: '1.0.0',
      released: true,
      functions: [
        throwsError,
        rejectsLater,
        neverSettles,
        returnsWrongType,
        returnsNull,
        returnsNothing,
        loopsForever,
        waitsForever,
        eatsMemory,
        callsItself,
        nestsTooDeep,
        logsMuch,
        reportsGlobals,
        echo,
      ],
    },
    { version: '1.1.0', released: false, functions: [echo] },
  ],
} as const satisfies CodePackage;

/**
 * The code packages of the reference platform; constant, so that docs and tests can refer to their ids and functions.
 */
export const codePackages: readonly CodePackage[] = [analyticsToolkit, runtimeTrials];

import { InvalidArgumentError } from 'commander';
import { nearestName, pastMoment, shortened, utcTime } from '../../base/index.ts';
import { isBatchName, MAX_BATCH_NAME_LENGTH } from '../../jobs/types/index.ts';
import { topicName } from '../../platform/operations/index.ts';

/** The error for an invalid option or argument. It suggests the nearest of `names`. */
function invalid(expected: string, text: string, names: readonly string[] = []): InvalidArgumentError {
  const meant = nearestName(text.toLowerCase(), names);
  const hint = meant === undefined ? '.' : `; did you mean ${meant}?`;
  return new InvalidArgumentError(`Expected ${expected}, got ${JSON.stringify(shortened(text, 200))}${hint}`);
}

/** Creates the parser of an option or argument. It throws an error with `expected` if `read` returns undefined. */
export const parserOf =
  <Value>(expected: string, read: (text: string) => Value | undefined, names?: readonly string[]) =>
  (text: string): Value => {
    const value = read(text);
    if (value !== undefined) return value;
    throw invalid(expected, text, names);
  };

/** Creates the parser of a number from `min` to `max`, both included. */
export const decimalOption = (min: number, max: number, kind: 'number' | 'whole number' = 'number') =>
  parserOf(`a ${kind} from ${min} to ${max}`, (text) => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    const isValid = value >= min && value <= max && (kind === 'number' || Number.isInteger(value));
    return isValid ? value : undefined;
  });

/** Creates the parser of a whole number from `min` to `max`, both included. */
export const numberOption = (min: number, max: number) => decimalOption(min, max, 'whole number');

/** Creates the parser of a value that must be one of `names`, in upper or lower case. */
export const choiceOption = <const Names extends readonly string[]>(names: Names) =>
  parserOf(
    `one of ${names.join(', ')}`,
    (text): Names[number] | undefined => names.find((each) => each.toLowerCase() === text.toLowerCase()),
    names,
  );

/** Creates the parser of an option or argument that may be repeated. `read` parses one value. */
export const repeatable =
  <Value>(read: (text: string) => Value) =>
  (text: string, before: readonly Value[] = []): readonly Value[] => [...before, read(text)];

/** Parses a topic: `NAME` or `NAME=DESCRIPTION`. */
export function topicOption(text: string): { readonly topic: string; readonly description?: string } {
  const [, topic = text, description] = /^(.*?)=(.*)$/s.exec(text) ?? [];
  const suggestion = topic
    .trim()
    .replaceAll(/\W+/g, '_')
    .replace(/^[^a-z]+/i, '');
  const { error } = topicName.safeParse(topic.trim());
  if (error !== undefined)
    throw invalid(`${error.issues[0]?.message}${suggestion && `, such as ${suggestion}`}`, topic);
  return { topic: topic.trim(), ...(description === undefined ? {} : { description: description.trim() }) };
}

/**
 * Checks a limit of the sandbox: `6/s`, `100/min` or `5000/h`, optionally after `OPERATION=`. The sandbox itself
 * checks the name of the operation.
 */
export function sandboxLimit(text: string): string {
  if (/^([a-z-]+=)?\d+(\.\d+)?\/(s|min|h)$/.test(text)) return text;
  throw invalid('a limit such as 6/s, 100/min, 5000/h or score=0/s', text);
}

/** How many changes or violations are listed without `--limit`: in words, and with `--json`. */
export const DEFAULT_LISTED = 20;
export const DEFAULT_LISTED_JSON = 1_000;

/** How many dependents `where-used` lists by default without `--json`. */
export const DEFAULT_DEPENDENTS = 50;

const UNIT_MS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const MOMENT = 'an age such as 12h, 7d or 4w, or a date such as 2026-11-21 or 2026-11-21T09:15:00Z';

/** Parses an age, a date (which means its start in UTC) or a time. Returns a past time in epoch milliseconds. */
function momentOption(text: string): number {
  const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const nowMs = Date.now();
  const momentMs =
    unit === undefined
      ? Date.parse(utcTime.safeParse(text).data ?? '')
      : nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (momentMs <= nowMs) return momentMs;
  throw invalid(Number.isNaN(momentMs) ? MOMENT : 'a time in the past', text);
}

/**
 * Parses a past time for commands that delete. An age counts back from the newest stored run or job, or from the
 * current time if that is earlier. So a clock that is wrongly ahead does not make anything look older.
 */
export function ageOption(text: string): (newestMs: number) => number {
  const momentMs = momentOption(text);
  const isAge = /^\d+[hdw]$/.test(text);
  return (newestMs) => momentMs - (isAge ? Math.max(0, Date.now() - newestMs) : 0);
}

/** Parses the name of a batch of texts. */
export const batchOption = parserOf(
  `1 to ${MAX_BATCH_NAME_LENGTH} characters from A-Z a-z 0-9 . _ : -, not beginning with -, and not "." or ".."`,
  (text) => (isBatchName(text) && !text.startsWith('-') ? text : undefined),
);

/** Parses a value that is not blank. */
export const filledOption = parserOf('a value that is not empty', (text) =>
  text.trim() === '' ? undefined : text,
);

/** Parses the name of a set of jobs or formulas. */
export const setName = parserOf('at most 80 letters, digits, _, . and -', (text) =>
  /^[A-Za-z0-9][\w.-]{0,79}$/.test(text) ? text : undefined,
);

/** The default number of hours for which a link to the report works. */
export const DEFAULT_LINK_HOURS = 24;

export const YES = ['--yes', 'do not ask for confirmation; required if there is no terminal'] as const;

export const ENCODING = [
  '--encoding <label>',
  'the encoding of the file, such as utf-8, windows-1252, macintosh or cp850 (default: detected)',
] as const;

export const SEPARATOR = [
  '--separator <character>',
  'the separator of the CSV (default: detected from its header)',
] as const;

export const WHOLE_ROWS = [
  '--whole-rows',
  'do not join lines: treat each line as a row, even if a row seems to continue on the next line',
] as const;

/** The options for how a CSV is written. */
export const CSV_STYLE = [
  [
    '--csv-for <program>',
    'the program that will open the CSV: for Excel, use excel, which writes a byte order mark',
    choiceOption(['excel']),
  ],
  ['--csv-safe', 'put an apostrophe before cells that a spreadsheet would run as a formula: = + - @'],
] as const;

/** The option `--since`; `help` says what it does. */
export const sinceOption = (help: string) =>
  ['--since <time>', `${help}: an age (12h, 7d, 4w) or a date`, momentOption] as const;

/** The option `--at`: read the store as of a time, in epoch milliseconds. */
export const AT = [
  '--at <date>',
  'read what was published by the end of this day (UTC), or by a time such as 2026-11-21T09:15:00Z',
  (text: string): number => {
    const { data, error } = pastMoment.safeParse(text);
    if (data !== undefined) return data;
    throw invalid(error?.issues[0]?.message ?? '', text);
  },
] as const;

/** The option `--limit`. `things`: what is listed, in words. `byDefault`: how many without `--json`. */
export const listLimit = (things: string, byDefault: number) =>
  [
    '--limit <n>',
    `the maximum number of ${things} to list (default: ${byDefault}; with --json: ${DEFAULT_LISTED_JSON})`,
    numberOption(0, 1e6),
  ] as const;

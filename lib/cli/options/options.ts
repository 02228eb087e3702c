import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { parseJson, utcTime } from '../../base/index.ts';
import { idDigits } from '../../platform/index.ts';
import { type Place, parsePlace } from '../../snapshot/keys.ts';
import { sources } from '../../snapshot/sources/sources.ts';
import { errorCode } from '../../store/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** An option's value as a number between two bounds, both included. */
export const numberOption =
  (least: number, most: number, { whole = true }: { readonly whole?: boolean } = {}) =>
  (text: string): number => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most) || (whole && !Number.isInteger(value))) {
      const expected = `a ${whole ? 'whole ' : ''}number from ${least} to ${most}`;
      throw new InvalidArgumentError(`Expected ${expected}, got ${JSON.stringify(text)}.`);
    }
    return value;
  };

/** An option's value as one of a few names; upper and lower case are the same. */
export const choiceOption =
  <const Names extends readonly string[]>(names: Names) =>
  (text: string): Names[number] => {
    const name = names.find((each) => each.toLowerCase() === text.toLowerCase());
    if (name !== undefined) return name;
    throw new InvalidArgumentError(`Expected one of ${names.join(', ')}, got ${JSON.stringify(text)}.`);
  };

/** Collects the values of an option that may be repeated. */
export const collected = <Value>(value: Value, before: readonly Value[] = []): readonly Value[] => [
  ...before,
  value,
];

export type TopicGiven = { readonly topic: string; readonly description?: string };

/** Collects topics, each `NAME` or `NAME=DESCRIPTION`. */
export function topicOption(text: string, before: readonly TopicGiven[] = []): readonly TopicGiven[] {
  const at = text.indexOf('=');
  const given =
    at < 0
      ? { topic: text.trim() }
      : { topic: text.slice(0, at).trim(), description: text.slice(at + 1).trim() };
  return collected(given, before);
}

/** Where the value of an option is: in it, in the file `@FILE`, or on standard input (`-`). */
const textOf = (given: string, terminal: Pick<Terminal, 'readInput'>) =>
  given === '-' || given.startsWith('@') ? readText(given.replace(/^@/, ''), terminal) : given;

/** An option's value as a JSON object, given as such, as `@FILE`, or as `-` for standard input. Throws `UsageError`. */
export async function readObject(
  option: string,
  given: string,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<Readonly<Record<string, unknown>>> {
  const text = (await textOf(given, terminal)).replace(/^\uFEFF/, '');
  const value = tryParse(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  const from = given === '-' ? 'on standard input ' : given.startsWith('@') ? `in ${given.slice(1)} ` : '';
  // A file may hold what nobody wants in a log.
  const got = from === '' ? JSON.stringify(given) : value === undefined ? 'invalid JSON' : kindOf(value);
  throw new UsageError(
    `${option}: expected a JSON object ${from}such as '{"name": "value"}', got ${got}. A file is given as @FILE, standard input as -`,
  );
}

const kindOf = (value: unknown) =>
  Array.isArray(value) ? 'a list' : value === null ? 'null' : `a ${typeof value}`;

/** The text of a file, or of standard input for `-`. */
export async function readText(file: string, { readInput }: Pick<Terminal, 'readInput'>): Promise<string> {
  if (file === '-') return readInput();
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const code = errorCode(cause) ?? 'unknown';
    throw new UsageError(`${file}: expected a file that can be read, or - for standard input, got ${code}`, {
      cause,
    });
  }
}

/** The lines of a file, or of standard input for `-`, trimmed and without empty ones. Throws if there are none. */
export async function readLines(
  file: string,
  terminal: Pick<Terminal, 'readInput'>,
): Promise<readonly string[]> {
  const lines = (await readText(file, terminal)).split(/\r?\n/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  if (filled.length === 0) throw new UsageError(`${file}: expected at least one id, one per line, got none`);
  return filled;
}

function tryParse(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** How many changes are listed unless `--limit` says otherwise: for people, and for machines. */
export const LISTED = 20;
export const LISTED_JSON = 1_000;

/** How many dependents `where-used` lists for people. */
export const LISTED_DEPENDENTS = 50;

const UNIT_MS = { h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** What `momentOption` expects. */
const EXPECTED = 'a time ago such as 12h, 7d or 4w, or a date such as 2026-11-21 or 2026-11-21T09:15:00Z';

/** An option's value as a moment of the past, in epoch milliseconds: so long ago, or a date (its start in UTC) or time. */
export const momentOption =
  (now: () => number = () => Date.now()) =>
  (text: string): number => {
    const [, count, unit] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
    const nowMs = now();
    const momentMs =
      unit === undefined
        ? Date.parse(utcTime.safeParse(text).data ?? '')
        : nowMs - Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
    if (Number.isNaN(momentMs))
      throw new InvalidArgumentError(`Expected ${EXPECTED}, got ${JSON.stringify(text)}.`);
    if (momentMs > nowMs)
      throw new InvalidArgumentError(`Expected a time that has passed, got ${JSON.stringify(text)}.`);
    return momentMs;
  };

/** A run's name, such as `20261121T091500Z-3fa9c1`, as an argument or an option. */
export function runArgument(text: string): string {
  if (/^\d{8}T\d{6}Z-[0-9a-f]{6}$/.test(text)) return text;
  throw new InvalidArgumentError(
    `Expected a run such as 20261121T091500Z-3fa9c1, got ${JSON.stringify(text)}.`,
  );
}

/** The same, or `last`. */
export const runOrLast = (text: string): string => (text === 'last' ? text : runArgument(text));

/** `SOURCE` or `SOURCE.NAME` as an argument. */
export function placeArgument(text: string): Place {
  const place = parsePlace(text);
  if (place !== undefined) return place;
  const expected = `one of ${sources.join(', ')}, or SOURCE.NAME`;
  throw new InvalidArgumentError(`Expected ${expected}, got ${JSON.stringify(text)}.`);
}

/** An argument that names a place, or nothing for all of them, which `all` says in words. */
export const placeOf = (all: string) =>
  ['[source]', `one of ${sources.join(', ')}, or SOURCE.NAME (default: ${all})`, placeArgument] as const;

/** Columns separated by commas; may be repeated. A name that contains a comma cannot be given. */
export const columnsOption = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...text.split(',').map((column) => column.trim()),
];

/** The digits of a calculation's id, as typed. Throws `UsageError`. */
export function calculationId(given: string): string {
  const id = idDigits(given);
  if (id !== undefined) return id;
  throw new UsageError(`id: expected the digits of an integer, got ${JSON.stringify(given)}`);
}

const SET_NAME = /^[A-Za-z0-9][\w.-]{0,79}$/;

/** An option's value as the name of a set of formulas. Throws `UsageError`. */
export function setName(text: string): string {
  if (SET_NAME.test(text)) return text;
  throw new UsageError(
    `--name: expected at most 80 letters, digits, _, . and -, got ${JSON.stringify(text)}`,
  );
}

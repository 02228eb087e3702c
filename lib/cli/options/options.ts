import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { parseJson } from '../../base/index.ts';
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

/** How many jobs a command runs at once. */
export const CONCURRENCY = [
  '--concurrency <n>',
  'the most jobs to run at once (default: PLATFORM_CONCURRENCY)',
  numberOption(1, 1_000),
] as const;

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
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
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

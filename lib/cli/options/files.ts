import { isUtf8 } from 'node:buffer';
import { constants, type Stats } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseJson } from '../../base/index.ts';
import { OUTPUT_ENDINGS, type OutputFormat, outputFormat } from '../../jobs/texts/output/text-file.ts';
import { fileError, UsageError } from '../errors/usage-error.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Input = Pick<Terminal, 'readInput'>;

/** The text of a file, or of standard input for `-`. Throws `UsageError`. */
export async function readText(file: string, { readInput }: Input): Promise<string> {
  if (file === '-') return readInput();
  const bytes = await readFile(file).catch((error: unknown) => {
    throw fileError(file, 'a file that can be read, or - for standard input', error);
  });
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString();
  throw fileError(file, 'text in UTF-8', 'other bytes');
}

/** The lines of a file, or of standard input for `-`, trimmed and without empty ones. Throws `UsageError` if there are none. */
export async function readLines(file: string, terminal: Input): Promise<readonly string[]> {
  const lines = (await readText(file, terminal)).split(/\r?\n/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== '');
  if (filled.length === 0) throw new UsageError(`${file}: expected at least one id, one per line, got none`);
  return filled;
}

/** A text as JSON; undefined if it is none. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** An option's value as a JSON object, given as such, as `@FILE`, or as `-` for standard input. Throws `UsageError`. */
export async function readObject(
  option: string,
  given: string,
  terminal: Input,
): Promise<Readonly<Record<string, unknown>>> {
  const isElsewhere = given === '-' || given.startsWith('@');
  const value = jsonOf(isElsewhere ? await readText(given.replace(/^@/, ''), terminal) : given);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  // A file may hold what nobody wants in a log.
  const got = isElsewhere
    ? `${value === undefined ? 'invalid' : 'other'} JSON in ${given}`
    : JSON.stringify(given);
  throw new UsageError(
    `${option}: expected a JSON object such as '{"name": "value"}', @FILE for one in a file, or - for standard input, got ${got}`,
  );
}

/** Throws `UsageError` unless a file can be read more than once, as a pipe cannot. */
export async function checkFile(file: string): Promise<void> {
  const expected = 'a file that can be read more than once';
  if (file === '-') throw fileError(file, expected, 'standard input');
  const found = await stat(file).catch((error: unknown) => {
    throw fileError(file, expected, error);
  });
  if (!found.isFile()) throw fileError(file, expected, kindOf(found));
}

const kindOf = (found: Stats) => (found.isDirectory() ? 'a folder' : 'something else');

/** The format of the file that `--output` names, which is checked before anything else is done. Throws `UsageError`. */
export async function checkedOutputFile(file: string): Promise<OutputFormat> {
  const format = outputFormat(file);
  if (format === undefined)
    throw fileError(`--output ${file}`, `a name that ends in ${OUTPUT_ENDINGS}`, 'another one');
  await checkWritable(file);
  return format;
}

/** Throws `UsageError` unless `--output` names a file that can be written, whether it is there or not. */
export async function checkWritable(file: string): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  if (there?.isFile() === false) throw fileError(`--output ${file}`, 'a file', kindOf(there));
  if (file === '') throw fileError('--output', 'a file', 'nothing');
  // Of a file that stands in the way of a folder, too.
  await access(`${dirname(file)}/.`, constants.W_OK).catch((error: unknown) => {
    throw fileError(`--output ${file}`, 'a file in a folder that can be written', error);
  });
}

/** The same for an output of the rows of `file`, if one is given. Throws `UsageError` if it is that file, too. */
export async function checkedOutput(
  file: string,
  output: string | undefined,
): Promise<OutputFormat | undefined> {
  if (output === undefined) return undefined;
  const format = await checkedOutputFile(output);
  const [input, there] = await Promise.all([stat(file), stat(output).catch(() => undefined)]);
  if (there?.ino === input.ino && there.dev === input.dev)
    throw fileError(`--output ${output}`, 'another file than the one that is read', 'the same');
  return format;
}

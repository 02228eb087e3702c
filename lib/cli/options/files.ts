import { constants, createReadStream, type Stats } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseJson } from '../../base/json/index.ts';
import {
  doubtError,
  OUTPUT_ENDINGS,
  type OutputFormat,
  outputFormat,
  readWholeText,
  surveyText,
  type TextOptions,
} from '../../text/index.ts';
import { fileError } from '../errors/usage-error.ts';
import { createQuestions } from '../terminal/questions.ts';
import { shown, shownLines, type Terminal } from '../terminal/terminal.ts';

/** Reads a text file, or standard input for `-`. Throws `UsageError`, or `TextError` if it is not text. */
export async function readText(
  file: string,
  { readInput }: Pick<Terminal, 'readInput'>,
  options: Pick<TextOptions, 'encoding' | 'mayGuess'> = {},
): Promise<string> {
  const isInput = file === '-';
  const bytes = await (isInput ? readInput() : readFile(file)).catch((error: unknown) => {
    throw fileError(file, 'a readable file, or - for standard input', error);
  });
  return readWholeText(bytes, { ...options, name: isInput ? 'standard input' : file });
}

/**
 * The encoding of a file whose rows are sent. If it is in doubt, shows the first rows and asks the user. Throws
 * `TextError` if there is no terminal to ask.
 */
export async function confirmedEncoding(
  file: string,
  encoding: string | undefined,
  { dialog, err, signal }: Pick<Terminal, 'dialog' | 'err' | 'signal'>,
): Promise<string> {
  const found = await surveyText(() => createReadStream(file), { encoding, name: file });
  if (found.doubt === undefined) return found.encoding;
  const [likeliest] = found.doubt.readings.map((reading) => reading.encoding);
  const remedy = `choose the encoding, such as --encoding ${likeliest}; nothing was sent`;
  const doubt = doubtError(found.doubt, remedy, { name: file });
  if (dialog === undefined) throw doubt;
  err(shownLines(doubt.message));
  using questions = createQuestions(dialog, signal);
  const typed = await questions.ask(`the encoding of ${shown(file)} (Ctrl-C to stop)`, likeliest);
  signal.throwIfAborted();
  if (typed === undefined) throw doubt;
  return confirmedEncoding(file, typed, { dialog, err, signal });
}

/** Parses JSON; undefined if it is not valid. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}

/** Throws `UsageError` unless the file can be read more than once (a pipe cannot). */
export async function checkFile(file: string): Promise<void> {
  const expected = 'a file that can be read more than once';
  if (file === '-') throw fileError('FILE', expected, '-, standard input: save it as a file first');
  const found = await stat(file).catch((error: unknown) => {
    throw fileError(file, 'a readable file', error);
  });
  if (!found.isFile()) throw fileError(file, expected, kindOf(found));
}

const kindOf = (found: Stats) => (found.isDirectory() ? 'a folder' : 'something else');

/** The format of the file of `--output`. Commands call it before they send anything. Throws `UsageError`. */
export async function checkedOutputFile(file: string): Promise<OutputFormat> {
  const format = outputFormat(file);
  if (format === undefined)
    throw fileError(`--output ${file}`, `a name that ends in ${OUTPUT_ENDINGS}`, 'another ending');
  await checkWritable(file);
  return format;
}

/** Throws `UsageError` unless `file` can be written or created. `option`: the option that was given, for the error. */
export async function checkWritable(file: string, option = '--output'): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  if (there?.isFile() === false) throw fileError(`${option} ${file}`, 'a file', kindOf(there));
  if (file === '') throw fileError(option, 'a file', 'nothing');
  // This also fails if a file has the name of the folder.
  await access(`${dirname(file)}/.`, constants.W_OK).catch((error: unknown) => {
    throw fileError(`${option} ${file}`, 'a file in a folder that can be written', error);
  });
}

/** Words for an output that is in UTF-8 because the input's encoding lacks one of its characters; otherwise ''. */
export const encodingNote = (written: string, source: string | undefined): string =>
  written === 'utf-8' && source !== undefined && source !== 'utf-8'
    ? `, in UTF-8 with a byte order mark, since not all characters exist in ${source}`
    : '';

/**
 * The format of the output of a command that reads `file`; undefined if there is no output. Throws
 * `UsageError` if the output cannot be written, or is `file` itself.
 */
export async function checkedOutput(
  file: string,
  output: string | undefined,
): Promise<OutputFormat | undefined> {
  if (output === undefined) return undefined;
  const format = await checkedOutputFile(output);
  const [input, there] = await Promise.all([stat(file), stat(output).catch(() => undefined)]);
  if (there?.ino === input.ino && there.dev === input.dev)
    throw fileError(`--output ${output}`, 'another file than the input', 'the input itself');
  return format;
}

/** Removes the line break at the end of a file, which editors add and which does not belong to the formula. */
export const withoutFinalLineEnd = (text: string): string =>
  text.replace(/^\uFEFF/, '').replace(/\r?\n$/, '');

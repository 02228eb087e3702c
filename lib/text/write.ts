import type { WriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { systemReason } from '../base/aws/index.ts';
import { csvCell, safeCell } from './cells/index.ts';
import type { CsvForm } from './csv.ts';
import { encoderOf } from './encodings.ts';

/** The format of a file that is written. `isTabbed`: a CSV with tabs as separators. */
export type OutputFormat = {
  readonly format: 'csv' | 'ndjson';
  readonly isTabbed: boolean;
  readonly isGzipped: boolean;
};

/** The extensions of such files, in words. */
export const OUTPUT_ENDINGS = '.csv, .tsv, .txt, .ndjson or .jsonl, with .gz or without';

/** The format for a file's extension: `.txt` has tabs, as in Excel. Undefined for other extensions. */
export function outputFormat(file: string): OutputFormat | undefined {
  const [, ending = '', gz] = /\.(csv|tsv|txt|ndjson|jsonl)(\.gz)?$/i.exec(file) ?? [];
  if (ending === '') return undefined;
  const isTabbed = /^t/i.test(ending);
  return {
    format: isTabbed || /^csv$/i.test(ending) ? 'csv' : 'ndjson',
    isTabbed,
    isGzipped: gz !== undefined,
  };
}

type WriteOptions = {
  readonly isGzipped: boolean;
  /** Default: UTF-8. */
  readonly encoding?: string | undefined;
  /** Whether the file begins with a byte order mark, as Excel expects. Default: false. */
  readonly isMarked?: boolean | undefined;
  /** The file from which the lines come: a new file gets its permissions. */
  readonly sourceFile?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Writes a file of lines, as `replaceFile` does, and returns its encoding. If the requested encoding lacks a character,
 * the file is written in UTF-8 with a byte order mark, and this is returned. Errors of `lines` are thrown unchanged.
 */
export const writeTextFile = (
  file: string,
  lines: () => AsyncIterable<string>,
  { sourceFile, ...options }: WriteOptions,
): Promise<string> =>
  replaceFile(file, sourceFile, async (begin) => {
    if (await writeLines(await begin(), lines(), options)) return options.encoding ?? 'utf-8';
    await writeLines(await begin(), lines(), { ...options, encoding: 'utf-8', isMarked: true });
    return 'utf-8';
  });

/**
 * Writes a file that appears only when it is complete. `fill` writes into the stream that `begin` opens; each call
 * starts the file anew. The file keeps the permissions of the file that it replaces. A new file gets the
 * permissions of `sourceFile`, or else only its owner can read it. Throws errors of `fill`, or an error with the path of the file.
 */
export async function replaceFile<T>(
  file: string,
  sourceFile: string | undefined,
  fill: (begin: () => Promise<WriteStream>) => Promise<T>,
): Promise<T> {
  const partial = `${file}.${process.pid}.partial`;
  const begin = async () => {
    const mode = await modeOf(file);
    await rm(partial, { force: true });
    const handle = await open(partial, 'wx', mode ?? (sourceFile && (await modeOf(sourceFile))) ?? 0o600);
    // The umask applies only to new files.
    if (mode !== undefined) await handle.chmod(mode);
    // The bytes are flushed to disk before the file gets its name.
    return handle.createWriteStream({ flush: true });
  };
  try {
    const filled = await fill(begin);
    await rename(partial, file);
    return filled;
  } catch (error) {
    await rm(partial, { force: true });
    // The message of a file system error may lack the path of the file.
    if (error instanceof Error && 'syscall' in error)
      throw new Error(`${file}: expected a file that can be written, got ${systemReason(error)}`, {
        cause: error,
      });
    throw error;
  }
}

/** Writes the lines. Returns false if the encoding lacks a character. */
async function writeLines(
  target: WriteStream,
  lines: AsyncIterable<string>,
  { isGzipped, encoding = 'utf-8', isMarked = false, signal }: WriteOptions,
): Promise<boolean> {
  const missingCharacter = new Error('the encoding lacks a character');
  const encode = await encoderOf(encoding);
  async function* blocks() {
    for await (const block of inBlocks(lines, isMarked ? '\uFEFF' : '')) {
      const bytes = encode(block);
      if (bytes === undefined) throw missingCharacter;
      yield bytes;
    }
  }
  const stages = isGzipped ? [createGzip()] : [];
  try {
    await pipeline([Readable.from(blocks()), ...stages, target], signal === undefined ? {} : { signal });
    return true;
  } catch (error) {
    if (error === missingCharacter) return false;
    throw error;
  }
}

/** The permissions of a file, always with read and write for its owner; undefined if the file does not exist. */
const modeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    (found) => (found.isFile() ? (found.mode & 0o666) | 0o600 : undefined),
    () => undefined,
  );

/** How the cells of a CSV are written. */
export type CellOptions = {
  /**
   * Whether a cell that a spreadsheet would run as a formula gets an apostrophe in front. Default: cells stay
   * unchanged.
   */
  readonly isSafe?: boolean | undefined;
};

/** A row of a CSV (RFC 4180) with its line ending. A row of one empty cell is quoted, so that the line is not blank. */
export function csvLine(
  cells: readonly string[],
  { separator, lineEnd = '\r\n', isSafe }: CsvForm & CellOptions,
): string {
  const line = cells.map((text) => csvCell(isSafe ? safeCell(text) : text, separator)).join(separator);
  return `${line === '' ? '""' : line}${lineEnd}`;
}

/** Options of commands that write a CSV: `csvFor` adds a byte order mark for Excel, `csvSafe` makes cells safe. */
export type CsvOptions = { readonly csvFor?: 'excel' | undefined; readonly csvSafe?: true | undefined };

/** How to write a CSV: like its source, or without a source with commas and in UTF-8. A `.tsv` has tabs. */
export function csvOutput(
  { isTabbed }: Pick<OutputFormat, 'isTabbed'>,
  /** The text from which the CSV is computed. `csv` is set if that text is a CSV too. */
  options: Pick<WriteOptions, 'encoding' | 'isMarked'> & { readonly csv?: CsvForm | undefined },
  { csvFor, csvSafe }: CsvOptions,
): CsvForm & CellOptions & Pick<WriteOptions, 'encoding' | 'isMarked'> {
  const { csv, encoding, isMarked } = options;
  const { separator = ',', lineEnd, isDeclared } = csv ?? {};
  const form = isTabbed ? { separator: '\t', lineEnd } : { separator, lineEnd, isDeclared };
  const asSource = csvFor === undefined && csv !== undefined;
  return {
    ...form,
    isSafe: csvSafe,
    encoding: asSource ? encoding : 'utf-8',
    isMarked: csvFor === 'excel' || (asSource && isMarked),
  };
}

/** The lines of a CSV before its rows: the separator's declaration, if any, and the header. */
export const csvHead = (names: readonly string[], form: CsvForm & CellOptions): string =>
  `${form.isDeclared ? `sep=${form.separator}${form.lineEnd ?? '\r\n'}` : ''}${csvLine(names, form)}`;

const BLOCK_CHARACTERS = 65_536;

/** Joins lines into blocks, since a write for each line would be slow. */
async function* inBlocks(lines: AsyncIterable<string>, mark: string): AsyncGenerator<string> {
  let block = mark;
  for await (const line of lines) {
    block += line;
    if (block.length < BLOCK_CHARACTERS) continue;
    yield block;
    block = '';
  }
  if (block !== '') yield block;
}

import { open, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { systemReason } from '../../../base/index.ts';

export type OutputFormat = {
  readonly format: 'csv' | 'ndjson';
  readonly isTabbed: boolean;
  readonly isGzipped: boolean;
};

export const OUTPUT_ENDINGS = '.csv, .tsv, .ndjson or .jsonl, with .gz or without';

/** The format that the name of a file says: `.csv`, `.tsv`, `.ndjson`, `.jsonl`, and `.gz` after it. */
export function outputFormat(file: string): OutputFormat | undefined {
  const [, ending, gz] = /\.(csv|tsv|ndjson|jsonl)(\.gz)?$/i.exec(file) ?? [];
  if (ending === undefined) return undefined;
  const isCsv = /^[ct]sv$/i.test(ending);
  return { format: isCsv ? 'csv' : 'ndjson', isTabbed: /^tsv$/i.test(ending), isGzipped: gz !== undefined };
}

type WriteOptions = {
  readonly isGzipped: boolean;
  /** The file that the lines are made of, if there is one. */
  readonly madeOf?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Writes a file, which appears complete or not at all. Nobody may read it who could not read the one that it replaces, or
 * else the one that it is made of. Throws what the lines throw, or an error that names the file.
 */
export async function writeTextFile(
  file: string,
  lines: AsyncIterable<string>,
  { isGzipped, madeOf, signal }: WriteOptions,
): Promise<void> {
  const partial = `${file}.${process.pid}.partial`;
  try {
    const mode = (await modeOf(file)) ?? (madeOf === undefined ? undefined : await modeOf(madeOf));
    const handle = await open(partial, 'w', mode);
    const stages = isGzipped ? [createGzip()] : [];
    // Flushed, since the name must not appear before the bytes are safe.
    const target = handle.createWriteStream({ flush: true });
    await pipeline(
      [Readable.from(inBlocks(lines)), ...stages, target],
      signal === undefined ? {} : { signal },
    );
    await rename(partial, file);
  } catch (error) {
    await rm(partial, { force: true });
    // Of the file system: its own message may not name the file.
    if (error instanceof Error && 'syscall' in error)
      throw new Error(`${file}: expected a file that can be written, got ${systemReason(error)}`, {
        cause: error,
      });
    throw error;
  }
}

/** Who may read and write a file: its owner may; undefined if there is none. */
const modeOf = (file: string): Promise<number | undefined> =>
  stat(file).then(
    (found) => (found.isFile() ? (found.mode & 0o666) | 0o600 : undefined),
    () => undefined,
  );

export const csvCell = (text: string, separator: string): string =>
  text.includes(separator) || /["\r\n]/.test(text) || /^\s|\s$/.test(text)
    ? `"${text.replaceAll('"', '""')}"`
    : text;

const BLOCK_CHARACTERS = 65_536;

/** Joins lines, since a write for each would take most of the time. */
async function* inBlocks(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let held = '';
  for await (const line of lines) {
    held += line;
    if (held.length < BLOCK_CHARACTERS) continue;
    yield Buffer.from(held);
    held = '';
  }
  if (held !== '') yield Buffer.from(held);
}

import { freeMemory, type JsonBytes, jsonBytesOf } from '../../base/bytes/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import { type PartToRead, partChunks } from './part-chunks.ts';

/** A line in bytes that it shares with others: from `start` up to, not including, its line feed at `end`. */
export type Line = {
  readonly json: JsonBytes;
  readonly start: number;
  readonly end: number;
};

/** Reads the lines of parts, one after another, as views of the decompressed bytes. */
export type LineReader = {
  /** The line that was read last: the same object each time, with the values of that line. */
  readonly line: Line;
  /** Reads the next line: false at the end. A promise only once in hundreds of lines, so that most lines cost none. */
  next(): boolean | Promise<boolean>;
  /** Frees the memory of the lines before the current one: they must not be used any more. Collecting it would be slow. */
  release(): void;
  /** Where the current line is, for messages: its part, and its number from 1. */
  place(): string;
  close(): Promise<void>;
};

type LinesToRead = {
  readonly store: Pick<Store, 'stream' | 'location'>;
  readonly parts: readonly PartToRead['part'][];
  readonly signal?: AbortSignal | undefined;
};

/** A line that is all there is in its bytes. */
export const lineOf = (bytes: Buffer): Line => ({
  json: jsonBytesOf(bytes),
  start: 0,
  end: bytes.byteLength,
});

export const bytesOf = ({ json, start, end }: Line): Buffer => json.bytes.subarray(start, end);

const LINE_FEED = 0x0a;
const NO_BYTES: JsonBytes = jsonBytesOf(Buffer.alloc(0));

/** Opens a reader before the first line of the parts. Its `next` throws what `partChunks` throws. */
export function readLines({ store, parts, signal }: LinesToRead): LineReader {
  const line = { json: NO_BYTES, start: 0, end: -1 };
  const finished: Buffer[] = [];
  let current: Buffer | undefined;
  let [key, number] = ['', 0];

  const pieces = (async function* allPieces() {
    for (const part of parts) {
      [key, number] = [part.key, 0];
      yield* wholeLines(partChunks({ store, part, signal }), part.key);
    }
  })();

  /** Moves to the next line of the current bytes; false if they have no other one. */
  function step(): boolean {
    const start = line.end + 1;
    const end = start < line.json.bytes.length ? line.json.bytes.indexOf(LINE_FEED, start) : -1;
    if (end === -1) return false;
    line.start = start;
    line.end = end;
    number += 1;
    return true;
  }

  async function refill(): Promise<boolean> {
    for (;;) {
      const { done, value: piece } = await pieces.next();
      if (current !== undefined) finished.push(current);
      current = piece?.memory;
      line.json = piece === undefined ? NO_BYTES : jsonBytesOf(piece.bytes);
      line.end = -1;
      if (done || step()) return !done;
    }
  }

  return {
    line,
    next: () => step() || refill(),
    release() {
      for (const memory of finished) freeMemory(memory);
      finished.length = 0;
    },
    place: () => `${key}, line ${number}`,
    close: async () => void (await pieces.return()),
  };
}

export const NO_RECORD = 'expected a record as JSON, got something else';

/**
 * Calls `see` with a reader at each line of some parts, one after another, and frees the memory of the lines that it has
 * seen. What it returns is awaited. Throws `StoredObjectError`, also where `see` throws `SyntaxError`.
 */
export async function eachLine(
  lines: LinesToRead,
  see: (reader: LineReader) => void | Promise<void>,
): Promise<void> {
  const reader = readLines(lines);
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next()) {
      const seen = see(reader);
      if (seen !== undefined) await seen;
      reader.release();
    }
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new StoredObjectError('invalid', `${reader.place()}: ${NO_RECORD}`, { cause });
  } finally {
    await reader.close();
  }
}

/** The largest record that is stored, as a line: more than the largest response by default. Readers hold no more. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Whole lines, each with its line feed. */
type WholeLines = {
  readonly bytes: Buffer;
  /** What can be freed after the last of them: they and what was read before them are all that is in it. */
  readonly memory: Buffer | undefined;
};

async function* wholeLines(chunks: AsyncIterable<Buffer>, key: string): AsyncGenerator<WholeLines> {
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of chunks) {
    const first = begun.length === 0 ? 0 : chunk.indexOf(LINE_FEED) + 1;
    const last = chunk.lastIndexOf(LINE_FEED) + 1;
    if (last === 0) {
      begun.push(chunk);
      begunBytes += chunk.byteLength;
      if (begunBytes > MAX_LINE_BYTES)
        throw new StoredObjectError(
          'invalid',
          `${key}: expected records of at most ${MAX_LINE_BYTES} bytes, got more in a line`,
        );
      continue;
    }
    if (begun.length > 0)
      yield { bytes: Buffer.concat([...begun, chunk.subarray(0, first)]), memory: undefined };
    if (first < last)
      yield { bytes: chunk.subarray(first, last), memory: isLastOfMemory(chunk) ? chunk : undefined };
    begun = last < chunk.length ? [chunk.subarray(last)] : [];
    begunBytes = chunk.length - last;
  }
  // The last line of a part may lack its line feed.
  if (begun.length > 0) yield { bytes: Buffer.concat([...begun, Buffer.of(LINE_FEED)]), memory: undefined };
}

/** True if nothing more will be written behind the chunk: the decompressor fills its buffers one after another. */
const isLastOfMemory = ({ buffer, byteOffset, byteLength }: Buffer): boolean =>
  byteOffset + byteLength === buffer.byteLength;

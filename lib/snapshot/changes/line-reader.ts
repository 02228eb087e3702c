import { createHash } from 'node:crypto';
import { Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { freeMemory, type JsonBytes, jsonBytesOf } from '../../base/json/index.ts';
import { missingObject, type Store, StoredObjectError, StoreError } from '../../store/index.ts';
import { compressionSuffix } from '../keys.ts';
import type { Manifest } from '../manifest.ts';

/** A line within a buffer of several lines: from `start` up to, but not including, its line feed at `end`. */
export type Line = {
  readonly json: JsonBytes;
  readonly start: number;
  readonly end: number;
};

/** Reads the lines of parts one after another, as views of the decompressed bytes. */
export type LineReader = {
  /** The current line: always the same object, with new values. */
  readonly line: Line;
  /**
   * Moves to the next line; false at the end. It returns a promise only if it needs more bytes, once in hundreds of
   * lines, because awaiting each line would be slow.
   */
  next(): boolean | Promise<boolean>;
  /**
   * Frees the memory of the lines before the current one; do not use them afterwards. Leaving that to garbage
   * collection would be slow.
   */
  release(): void;
  /**
   * The location of the current line, for messages: the key of its part, and the number of the line; 1 is the first.
   */
  location(): string;
  close(): Promise<void>;
};

type LinesToRead = {
  readonly store: Pick<Store, 'stream' | 'location'>;
  readonly parts: readonly PartToRead['part'][];
  readonly signal?: AbortSignal | undefined;
};

/** A line that consists of all these bytes. */
export const lineOf = (bytes: Buffer): Line => ({
  json: jsonBytesOf(bytes),
  start: 0,
  end: bytes.byteLength,
});

/** The bytes of a line, without its line feed. */
export const bytesOf = ({ json, start, end }: Line): Buffer => json.bytes.subarray(start, end);

const LINE_FEED = 0x0a;
const NO_BYTES: JsonBytes = jsonBytesOf(Buffer.alloc(0));

/** Opens a reader, positioned before the first line of the parts. Its `next` throws the errors of `partChunks`. */
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

  /** Moves to the next line of the current bytes; returns false after the last one. */
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
    location: () => `${key}, line ${number}`,
    close: async () => void (await pieces.return()),
  };
}

/** What is wrong with a line that is not a record, for messages. */
export const NOT_A_RECORD = 'expected a record as JSON, got something else';

/**
 * Calls `visit` for each line of some parts, in order, with a reader positioned at the line. Awaits the result, and
 * frees the memory of earlier lines. Throws `StoredObjectError`; a `SyntaxError` of `visit` becomes one.
 */
export async function eachLine(
  lines: LinesToRead,
  visit: (reader: LineReader) => void | Promise<void>,
): Promise<void> {
  const reader = readLines(lines);
  try {
    for (let found = reader.next(); found === true || (await found); found = reader.next()) {
      const visited = visit(reader);
      if (visited !== undefined) await visited;
      reader.release();
    }
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new StoredObjectError('invalid', `${reader.location()}: ${NOT_A_RECORD}`, { cause });
  } finally {
    await reader.close();
  }
}

/**
 * Maximum bytes of a stored record's line, which bounds the memory of readers. It is above the default maximum of a
 * response.
 */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** Yields buffers of whole lines, each line with its line feed. */
async function* wholeLines(
  chunks: AsyncIterable<Buffer>,
  key: string,
): AsyncGenerator<{
  readonly bytes: Buffer;
  /** The memory that can be freed after these lines have been used: it contains only these and earlier lines. */
  readonly memory: Buffer | undefined;
}> {
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
          `${key}: expected lines of at most ${MAX_LINE_BYTES} bytes, got a longer line`,
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

/** Whether this chunk is the last in its memory. The decompressor fills one buffer after another. */
const isLastOfMemory = ({ buffer, byteOffset, byteLength }: Buffer): boolean =>
  byteOffset + byteLength === buffer.byteLength;

/** A part to read, and the store that it is in. */
export type PartToRead = {
  readonly store: Pick<Store, 'stream' | 'location'>;
  /** The part to read. Without a sha256, its bytes are not checked. */
  readonly part: Pick<Manifest['parts'][number], 'key'> & {
    readonly sha256?: string;
  };
  readonly signal?: AbortSignal | undefined;
};

/**
 * Yields the bytes of a part in pieces of up to 256 KB, decompressed according to its suffix. The sha256 is checked at
 * the end, so the bytes can be relied on only then. Throws `StoredObjectError` if the part is missing, altered, or
 * cannot be decompressed.
 */
export async function* partChunks({ store, part, signal }: PartToRead): AsyncGenerator<Buffer> {
  const bytes = await store.stream(part.key, withSignal(signal));
  if (bytes === undefined) throw missingObject(store, part.key, 'a part');
  const { unpacked, divide } = createDecompressor(part.key);
  let fault: unknown;
  const checked = (async function* check() {
    try {
      yield* checkedBytes(bytes, part);
    } catch (error) {
      fault = error;
      throw error;
    }
  })();
  const pumped = pipeline(Readable.from(divide(checked)), unpacked, withSignal(signal));
  // The error is ignored here, since `unpacked` fails with the same one below.
  pumped.catch(() => undefined);
  try {
    yield* unpacked as AsyncIterable<Buffer>;
    // Gunzip stops at zeros after a gzip member and ignores the rest. The rest is read here, so that the sha256
    // includes it.
    for await (const _ of checked);
    if (fault !== undefined) throw fault;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof StoredObjectError || error instanceof StoreError) throw error;
    throw new StoredObjectError('invalid', `${part.key} in ${store.location}: cannot be decompressed`, {
      cause: error,
    });
  } finally {
    unpacked.destroy();
  }
}

const withSignal = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

async function* checkedBytes(
  bytes: AsyncIterable<Uint8Array>,
  { key, sha256 }: PartToRead['part'],
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) {
    if (sha256 !== undefined) hash.update(chunk);
    yield chunk;
  }
  if (sha256 === undefined) return;
  const got = hash.digest('hex');
  if (got !== sha256) {
    throw new StoredObjectError(
      'invalid',
      `${key}: expected the sha256 ${sha256} of the manifest, got ${got}`,
    );
  }
}

const CHUNK_BYTES = 256 * 1024;

function createDecompressor(key: string): {
  readonly unpacked: Transform;
  /** Divides the compressed bytes into the pieces that the decompressor needs. */
  readonly divide: (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
} {
  if (key.endsWith(`.${compressionSuffix.gzip}`))
    return { unpacked: createGunzip({ chunkSize: CHUNK_BYTES }), divide: (bytes) => bytes };
  if (key.endsWith(`.${compressionSuffix.zstd}`))
    return { unpacked: createZstdDecompress({ chunkSize: CHUNK_BYTES }), divide: splitZstdFrames };
  const known = Object.values(compressionSuffix).join(' or .');
  throw new StoredObjectError('invalid', `${key}: expected a part that ends in .${known}`);
}

/** The first four bytes of a zstd frame, and of a frame that decoders skip (where the last four bits vary). */
const FRAME_MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;

type Header = 'magic' | 'descriptor' | 'block' | 'skippable';
const LENGTHS = { magic: 4, descriptor: 1, block: 3, skippable: 4 } as const satisfies Record<Header, number>;

/**
 * Splits bytes at the ends of zstd frames (RFC 8878, section 3.1), because Node's decompressor loses the bytes that
 * follow a frame in the same write.
 */
async function* splitZstdFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const frames = followFrames();
  for await (const chunk of chunks) {
    let from = 0;
    for (let at = 0; at < chunk.byteLength; ) {
      const { next, ends } = frames.read(chunk, at);
      at = next;
      if (!ends) continue;
      yield chunk.subarray(from, at);
      from = at;
    }
    if (from < chunk.byteLength) yield chunk.subarray(from);
  }
}

function followFrames() {
  const head = Buffer.alloc(4);
  let [awaited, collected, skip]: [Header, number, number] = ['magic', 0, 0];
  let [hasChecksum, isLast, isUnknown] = [false, false, false];

  function expect(next: Header, skipFirst = 0): void {
    [awaited, collected, skip] = [next, 0, skipFirst];
  }

  const parsers = {
    magic(): void {
      const magic = head.readUInt32LE();
      isUnknown = magic !== FRAME_MAGIC && (magic & 0xfffffff0) >>> 0 !== SKIPPABLE_MAGIC;
      expect(magic === FRAME_MAGIC ? 'descriptor' : 'skippable');
    },
    descriptor(): void {
      const descriptor = head.readUInt8();
      hasChecksum = (descriptor & 4) !== 0;
      expect('block', headerRest(descriptor));
    },
    block(): void {
      const block = head.readUIntLE(0, 3);
      isLast = (block & 1) !== 0;
      // A block of type 1 repeats one byte: only that byte follows.
      const size = ((block >> 1) & 3) === 1 ? 1 : block >> 3;
      if (isLast) expect('magic', size + (hasChecksum ? 4 : 0));
      else expect('block', size);
    },
    skippable(): void {
      isLast = true;
      expect('magic', head.readUInt32LE());
    },
  } as const satisfies Record<Header, () => void>;

  return {
    /** Reads `chunk` from `at` on. Returns the index after the bytes read, and whether a frame ends there. */
    read(chunk: Uint8Array, at: number): { readonly next: number; readonly ends: boolean } {
      if (isUnknown) return { next: chunk.byteLength, ends: false };
      let next = at + Math.min(skip, chunk.byteLength - at);
      skip -= next - at;
      while (skip === 0 && !isLast && next < chunk.byteLength && collected < LENGTHS[awaited]) {
        head[collected] = chunk[next] ?? 0;
        [collected, next] = [collected + 1, next + 1];
      }
      if (skip === 0 && !isLast && collected === LENGTHS[awaited]) parsers[awaited]();
      const ends = isLast && skip === 0;
      if (ends) isLast = false;
      return { next, ends };
    },
  };
}

/**
 * The number of bytes after the descriptor in a frame's header: the window, the dictionary's id and the size
 * of the content.
 */
function headerRest(descriptor: number): number {
  const isSingle = (descriptor & 0x20) !== 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0;
  const content = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0;
  return (isSingle ? 0 : 1) + dictionary + content;
}

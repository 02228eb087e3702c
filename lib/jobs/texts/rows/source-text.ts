import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type Encoding, findEncoding } from './encoding.ts';
import { notRows, RowsError } from './rows-error.ts';
import { type SourceLines, sourceLines } from './source-lines.ts';

/** How many bytes of a source its encoding is detected from. */
const SAMPLE_BYTES = 256 * 1024;

/** A source whose bytes are text. */
export type SourceText = AsyncDisposable & {
  readonly encoding: Encoding;
  /** At least the first 256 KB, decompressed, or all there are. */
  readonly head: Uint8Array;
  /** All bytes, including the head. */
  readonly all: () => AsyncGenerator<Uint8Array>;
  /** All its lines, once. */
  readonly lines: () => SourceLines;
};

/** Opens a text, gzipped or not, in the requested encoding or the one that is found. Throws `RowsError`. */
export async function openText(bytes: AsyncIterable<Uint8Array>, requested?: string): Promise<SourceText> {
  const raw = await peek(bytes, 2);
  const isGzip = raw.head[0] === 0x1f && raw.head[1] === 0x8b;
  const source = await peek(isGzip ? gunzipped(raw.all()) : raw.all(), SAMPLE_BYTES);
  try {
    const kind = OTHER_KINDS.find(({ bytes: first }) => first.every((byte, at) => source.head[at] === byte));
    if (kind !== undefined) throw notRows(kind.is);
    const encoding = findEncoding(source.head.subarray(0, SAMPLE_BYTES), requested);
    return { ...source, encoding, lines: () => sourceLines(source.all(), encoding) };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

/** Files that are taken for texts, by their first bytes: what each is, and what to do about it. */
const OTHER_KINDS: readonly { readonly bytes: readonly number[]; readonly is: string }[] = [
  { bytes: [0x50, 0x4b, 0x03, 0x04], is: 'a ZIP archive or an Excel workbook: save its sheet as CSV' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], is: 'an Excel workbook of an old version: save its sheet as CSV' },
  { bytes: [0x50, 0x41, 0x52, 0x31], is: 'a Parquet file: `platform-sync query` writes it as CSV' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: 'a file compressed by zstd: decompress it, or use gzip' },
  { bytes: [0x42, 0x5a, 0x68], is: 'a file compressed by bzip2: decompress it, or use gzip' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58], is: 'a file compressed by xz: decompress it, or use gzip' },
  { bytes: [0x25, 0x50, 0x44, 0x46, 0x2d], is: 'a PDF' },
  { bytes: [0xff, 0xfe, 0x00, 0x00], is: 'UTF-32: save it as UTF-8' },
  { bytes: [0x00, 0x00, 0xfe, 0xff], is: 'UTF-32: save it as UTF-8' },
];

/** Bytes whose first `sizeBytes` can be looked at before they are read. */
async function peek(bytes: AsyncIterable<Uint8Array>, sizeBytes: number) {
  const iterator = bytes[Symbol.asyncIterator]();
  const close = async () => void (await iterator.return?.());
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (size < sizeBytes) {
    const next = await iterator.next();
    if (next.done) break;
    pieces.push(next.value);
    size += next.value.byteLength;
  }
  async function* all() {
    try {
      yield* pieces;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
    } finally {
      await close();
    }
  }
  return { head: Buffer.concat(pieces), all, [Symbol.asyncDispose]: close };
}

async function* gunzipped(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: true, highWaterMark: 1 });
  // `pipeline` requires a callback; the failure is thrown by the loop.
  const unpacked = pipeline(source, createGunzip(), () => {});
  try {
    for await (const piece of unpacked) yield piece as Uint8Array;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    throw new RowsError('gzip', `gzip: expected a complete file, got ${error.message}`, { cause: error });
  }
}

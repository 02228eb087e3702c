import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { notRows, RowsError, type SourceLines, sourceLines } from './source-lines.ts';

const SAMPLE_BYTES = 256 * 1024;

export type SourceText = AsyncDisposable & {
  readonly encoding: string;
  readonly isMarked: boolean;
  /** At least the first 256 KB, decompressed, or all there are. */
  readonly head: Uint8Array;
  /** All its lines, or the elements of the JSON array that it is, once. */
  readonly lines: (what?: 'line' | 'element') => SourceLines;
};

/** Opens a text, gzipped or not, in the requested encoding or the one that is found. Throws `RowsError`. */
export async function openText(bytes: AsyncIterable<Uint8Array>, requested?: string): Promise<SourceText> {
  const raw = await peek(bytes, 2);
  const isGzip = startsWith(raw.head, [0x1f, 0x8b]);
  const { all, ...source } = await peek(isGzip ? gunzipped(raw.all()) : raw.all(), SAMPLE_BYTES);
  try {
    const kind = OTHER_KINDS.find(({ bytes: first }) => startsWith(source.head, first));
    if (kind !== undefined) throw notRows(kind.is);
    const found = await findEncoding(source.head.subarray(0, SAMPLE_BYTES), requested);
    return { ...source, ...found, lines: (what = 'line') => sourceLines(what, all(), found.encoding) };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

const startsWith = (bytes: Uint8Array, first: readonly number[]) =>
  first.every((byte, at) => bytes[at] === byte);

/** Files that are taken for texts, by their first bytes: what each is, and what to do about it. */
const OTHER_KINDS: readonly { readonly bytes: readonly number[]; readonly is: string }[] = [
  { bytes: [0x50, 0x4b, 0x03, 0x04], is: 'a ZIP archive or an Excel workbook: save its sheet as CSV' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], is: 'an Excel workbook of an old version: save its sheet as CSV' },
  { bytes: [0x50, 0x41, 0x52, 0x31], is: 'a Parquet file: `platform-sync query` writes it as CSV' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: 'a file compressed by zstd: decompress it, or use gzip' },
  { bytes: [0x25, 0x50, 0x44, 0x46, 0x2d], is: 'a PDF' },
];

const MARKS: readonly { readonly name: string; readonly mark: readonly number[] }[] = [
  { name: 'utf-8', mark: [0xef, 0xbb, 0xbf] },
  { name: 'utf-16le', mark: [0xff, 0xfe] },
  { name: 'utf-16be', mark: [0xfe, 0xff] },
];

/**
 * The requested encoding, otherwise that of the byte order mark, otherwise UTF-8 if most of the non-ASCII content is valid,
 * and the likeliest by byte frequency if not. Throws `RowsError` for an unknown one, and for zero bytes.
 */
export async function findEncoding(
  sample: Uint8Array,
  requested?: string,
): Promise<Pick<SourceText, 'encoding' | 'isMarked'>> {
  const marked = MARKS.find(({ mark }) => startsWith(sample, mark))?.name;
  const encoding = requested === undefined ? (marked ?? (await guess(sample))) : supported(requested);
  if (encoding === undefined)
    throw new RowsError(
      'option',
      `encoding: expected an encoding such as utf-8, utf-16le or windows-1252, got ${JSON.stringify(requested)}`,
    );
  return { encoding, isMarked: marked === encoding };
}

function supported(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

const FALLBACK = 'windows-1252';

async function guess(sample: Uint8Array): Promise<string> {
  if (sample.includes(0))
    throw notRows('zero bytes, which no text has: if it is one, name its encoding by --encoding');
  if (isMostlyUtf8(sample)) return 'utf-8';
  const { analyse } = await import('chardet');
  const [likeliest] = analyse(sample)
    .filter(({ name }) => !/ASCII|UTF-/.test(name))
    // Short Western texts are often mistaken for Baltic ones.
    .map(({ name, confidence }) => ({ name, weight: name === 'windows-1257' ? confidence / 3 : confidence }))
    .sort((a, b) => b.weight - a.weight);
  return supported(likeliest?.name ?? FALLBACK) ?? FALLBACK;
}

/** False if there are at least as many broken bytes as valid characters: other encodings are rarely valid by chance. */
function isMostlyUtf8(sample: Uint8Array): boolean {
  try {
    // Its last character may be cut off.
    new TextDecoder('utf-8', { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    const text = new TextDecoder().decode(sample, { stream: true });
    const broken = text.match(/\uFFFD/g)?.length ?? 0;
    return (text.match(/[\u0080-\uFFFC]/g)?.length ?? 0) > broken;
  }
}

/** Bytes whose first `sizeBytes` can be looked at before they are read. */
async function peek(bytes: AsyncIterable<Uint8Array>, sizeBytes: number) {
  const iterator = bytes[Symbol.asyncIterator]();
  const close = async () => void (await iterator.return?.());
  const pieces: Uint8Array[] = [];
  for (let size = 0; size < sizeBytes; size += pieces.at(-1)?.byteLength ?? 0) {
    const next = await iterator.next();
    if (next.done) break;
    pieces.push(next.value);
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

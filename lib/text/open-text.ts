import { isAscii } from 'node:buffer';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { encodingNamed, type Guess, guessEncoding, isUtf16 } from './encodings.ts';
import { type TextLines, textLines } from './lines.ts';
import { notRowsError, TextError, type TextPosition } from './text-error.ts';

/** How to read a text. */
export type TextOptions = {
  /** The name of the encoding. Default: the encoding of the byte order mark; without a mark, it is detected. */
  readonly encoding?: string | undefined;
  /** Whether to use the most likely encoding if it is not certain. Default: false. */
  readonly mayGuess?: boolean | undefined;
  /** The name of the file or object, for messages. */
  readonly name?: string | undefined;
  /** What the text should contain, in words. Default: rows. */
  readonly expected?: string | undefined;
};

/**
 * How a text is encoded and compressed, as `writeTextFile` takes it. `doubt`: the possible encodings, if the encoding is
 * not certain.
 */
export type TextForm = Guess & { readonly isMarked: boolean; readonly isGzipped: boolean };

type OpenText = AsyncDisposable &
  TextForm & {
    /** At least the first 256 KB, decompressed, or the whole text if it is shorter. */
    readonly head: Uint8Array;
    /** All lines, or the elements of a JSON array. Can be read once. */
    readonly lines: (what?: 'line' | 'element', encoding?: string) => TextLines;
  };

/** How many bytes are read to determine the encoding. */
const SAMPLE_BYTES = 256 * 1024;

/** Opens a text, gzipped or not. Throws `TextError`, also for a file that is not a text. */
export async function openText(
  bytes: AsyncIterable<Uint8Array>,
  options: TextOptions = {},
): Promise<OpenText> {
  const { name } = options;
  const raw = await peek(bytes, 2);
  const isGzipped = raw.head[0] === 0x1f && raw.head[1] === 0x8b;
  try {
    const { all, ...source } = await peek(
      isGzipped ? gunzipped(raw.all(), { name }) : raw.all(),
      SAMPLE_BYTES,
    );
    const form = await formOf(source.head.subarray(0, SAMPLE_BYTES), options);
    const lines: OpenText['lines'] = (what = 'line', as = form.encoding) =>
      textLines(what, all(), { encoding: as, name });
    return { ...source, ...form, isGzipped, lines };
  } catch (error) {
    await raw[Symbol.asyncDispose]();
    throw error;
  }
}

const MARKS: readonly { readonly name: string; readonly mark: readonly number[] }[] = [
  { name: 'utf-8', mark: [0xef, 0xbb, 0xbf] },
  { name: 'utf-16le', mark: [0xff, 0xfe] },
  { name: 'utf-16be', mark: [0xfe, 0xff] },
];

/** The encoding that a byte order mark declares; undefined without a mark. */
const markedEncoding = (head: Uint8Array): string | undefined =>
  MARKS.find(({ mark }) => mark.every((byte, at) => head[at] === byte))?.name;

async function formOf(head: Uint8Array, { encoding: label, name, expected }: TextOptions) {
  const kind = nonTextKind(head);
  if (kind !== undefined) throw notRowsError(kind, { name, expected });
  const marked = markedEncoding(head);
  const requested = label === undefined ? undefined : await encodingNamed(label);
  if (label !== undefined && requested === undefined)
    throw new TextError(
      'option',
      `encoding: expected an encoding such as utf-8, utf-16le or windows-1252, got ${JSON.stringify(label)}`,
    );
  if (marked !== undefined && requested !== undefined && marked !== requested)
    throw new TextError(
      'encoding',
      `expected ${requested}, got the byte order mark of ${marked}: leave out --encoding`,
      { name },
    );
  const known = requested ?? marked;
  const guess = known === undefined ? await guessEncoding(head) : { encoding: known };
  if (guess !== undefined) return { ...guess, isMarked: marked !== undefined };
  throw notRowsError(
    'zero bytes, which a text does not contain: if it is a text, state its encoding with --encoding',
    {
      name,
      expected,
      line: lineOf(head, 0),
    },
  );
}

/** The number of the line in which a byte with this value first occurs. */
const lineOf = (bytes: Uint8Array, value: number): number =>
  bytes.subarray(0, bytes.indexOf(value)).filter((byte) => byte === 0x0a).length + 1;

/**
 * Determines how a text is encoded. Reads only as much as is needed to decide; a text that is ASCII is read to its end.
 * Throws `TextError`.
 */
export async function surveyText(
  open: () => AsyncIterable<Uint8Array>,
  options: TextOptions,
): Promise<TextForm> {
  await using text = await openText(open(), options);
  const { encoding, isMarked, isGzipped, doubt, head } = text;
  const form = { encoding, isMarked, isGzipped, doubt };
  const isKnown = options.encoding !== undefined || isMarked || isUtf16(encoding);
  if (isKnown || (encoding === 'utf-8' && doubt === undefined && !isAscii(head))) return form;
  const numbers: number[] = [];
  const found: string[] = [];
  let size = 0;
  // ISO-8859-1 turns each byte into one character.
  for await (const lines of text.lines('line', 'iso-8859-1')) {
    for (const { number, text: line } of lines) {
      if (size > SAMPLE_BYTES || !/\P{ASCII}/u.test(line)) continue;
      numbers.push(number);
      found.push(line);
      size += line.length;
    }
    if (size > SAMPLE_BYTES) break;
  }
  const guess = await guessEncoding(Buffer.from(found.join('\n'), 'latin1'), numbers);
  return found.length === 0 || guess === undefined ? form : { ...form, doubt: undefined, ...guess };
}

/**
 * Reads a short text completely, such as a template, a statement, or a file of settings. Throws `TextError`, also if its
 * encoding is in doubt. `remedy`: what to do in that case, for the message.
 */
export async function readWholeText(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  { remedy = SAVE_AS_UTF8, ...options }: TextOptions & { readonly remedy?: string | undefined } = {},
): Promise<string> {
  const pieces = bytes instanceof Uint8Array ? Readable.from([bytes]) : bytes;
  await using text = await openText(pieces, { expected: 'a text', ...options });
  if (text.doubt !== undefined && !options.mayGuess) throw doubtError(text.doubt, remedy, options);
  let whole = '';
  for await (const lines of text.lines())
    for (const { text: line, end, fault, number } of lines) {
      if (fault !== undefined) throw new TextError('encoding', fault, { ...options, line: number });
      // The parsers of settings, formulas and SQL do not accept a CR without LF as a line ending.
      whole += line + (end === '\r' ? '\n' : end);
    }
  return whole;
}

const SAVE_AS_UTF8 = 'save it as UTF-8';

/**
 * The error for a text that may be in one of several encodings. It shows how each of them decodes the first lines, and
 * what to do (`remedy`).
 */
export function doubtError(
  { line, readings }: NonNullable<Guess['doubt']>,
  remedy: string,
  { name }: TextPosition,
): TextError {
  const names = readings.map(({ encoding }) => encoding).join(' or ');
  const shown = readings.map(({ encoding, lines }) => [
    `  as ${encoding}:`,
    ...lines.map((each) => `    ${each}`),
  ]);
  return new TextError(
    'encoding',
    `expected a text in UTF-8, or in an encoding that is certain, got a text that may be ${names}: ${remedy}\n${shown.flat().join('\n')}`,
    { name, line },
  );
}

/** Returns the first `sizeBytes` bytes of a stream, and the whole stream, which still begins with them. */
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

async function* gunzipped(
  bytes: AsyncIterable<Uint8Array>,
  position: TextPosition,
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: true, highWaterMark: 1 });
  // `pipeline` requires a callback; the failure is thrown by the loop.
  const unpacked = pipeline(source, createGunzip(), () => {});
  let line = 1;
  try {
    for await (const piece of unpacked) {
      yield piece as Uint8Array;
      line += (piece as Uint8Array).filter((byte) => byte === 0x0a).length;
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))) throw error;
    const what = `gzip: expected a complete file, got ${error.message}: create it again`;
    throw new TextError('gzip', what, { ...position, line }, { cause: error });
  }
}

const CSV = 'save its sheet as CSV UTF-8';
const CONVERT = 'save it as text first';
const UNPACK = 'decompress it, or use gzip';

/**
 * Kinds of files that users mistake for texts: how each begins (one character for each byte), what it is, and what to
 * do.
 */
const BEGINNINGS: readonly (readonly [beginning: string | RegExp, is: string])[] = [
  ['\xd0\xcf\x11\xe0', `an Excel workbook of an old version, or one with a password: ${CSV}`],
  ['PAR1\x15', 'a Parquet file: `platform-sync query` writes it as CSV'],
  ['SQLite format 3\0', 'an SQLite database: export the table as CSV'],
  ['ARROW1\0', 'an Arrow file: export it as CSV'],
  ['Obj\x01', 'an Avro file: export it as NDJSON'],
  ['%PDF-', `a PDF: ${CONVERT}`],
  ['{\\rtf', `a formatted text (RTF): ${CONVERT}`],
  ['\x89PNG', `an image (PNG): ${CONVERT}`],
  ['\xff\xd8\xff', `an image (JPEG): ${CONVERT}`],
  [/^GIF8[79]a/, `an image (GIF): ${CONVERT}`],
  ['II*\0', `an image (TIFF): ${CONVERT}`],
  ['MM\0*', `an image (TIFF): ${CONVERT}`],
  [/^RIFF[\s\S]{4}/, `an image, sound or video: ${CONVERT}`],
  ['\x28\xb5\x2f\xfd', `a file compressed by zstd: ${UNPACK}`],
  [/^BZh[1-9]/, `a file compressed by bzip2: ${UNPACK}`],
  ['\xfd7zXZ\0', `a file compressed by xz: ${UNPACK}`],
  ['7z\xbc\xaf\x27\x1c', `a 7-Zip archive: ${UNPACK}`],
  ['Rar!\x1a\x07', `a RAR archive: ${UNPACK}`],
  [/^[\s\S]{257}ustar/, 'a tar archive: extract the file from it'],
  ['bplist00', 'a property list of macOS: export it as CSV'],
  ['\x7fELF', 'a program'],
  [
    /^(\xef\xbb\xbf)?\s*<\?xml[\s\S]*<\?mso-application|^(\xef\xbb\xbf)?\s*<\?xml[\s\S]{0,400}<Workbook/,
    `an Excel workbook (XML): ${CSV}`,
  ],
  [/^(\xef\xbb\xbf)?\s*<\?xml/, 'XML: export it as CSV or JSON'],
  [
    /^(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|table|meta)\b/i,
    'a web page: open it in a spreadsheet, and save it as CSV UTF-8',
  ],
];

/** Documents that are ZIP archives, by the names of the files in them. */
const ZIPS: readonly (readonly [name: RegExp, is: string])[] = [
  [/xl\/|\[Content_Types\]\.xml[\s\S]*spreadsheetml/, `an Excel workbook: ${CSV}`],
  [/opendocument\.spreadsheet/, `an OpenDocument workbook: ${CSV}`],
  [/Index\/|\.iwa|Index\.zip/, `a Numbers document: export it as CSV, in Unicode (UTF-8)`],
  [/word\/|ppt\/|opendocument\./, `an office document: ${CONVERT}`],
];

/** What a file is, and what to do about it, judged by its first bytes; undefined for a text. */
function nonTextKind(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  if (['PK\x03\x04', 'PK\x05\x06'].some((first) => text.startsWith(first)))
    return ZIPS.find(([name]) => name.test(text))?.[1] ?? 'a ZIP archive: extract the file from it';
  return BEGINNINGS.find(([beginning]) =>
    typeof beginning === 'string' ? text.startsWith(beginning) : beginning.test(text),
  )?.[1];
}

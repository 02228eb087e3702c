import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import * as z from 'zod/mini';
import type { BadRow, Row } from '../../../../lib/jobs/texts/rows/read-rows.ts';
import { TextError } from '../../../../lib/text/index.ts';
import { inPieces, readRows } from '../../../jobs/texts/bytes-of.ts';
import { defineTarget, must } from '../target.ts';
import { strictRows } from './strict-rows.ts';

/* Files of texts: each row is read, or reported with its line number, and a bad row does not affect the rows around it. */

const TOKENS = [
  ...'" "" """ ," ", , ; | { } [ \\u0000 1e400 __proto__'.split(' '),
  ...['"\n', '\t', '\n', '\r', '\r\n', '\n\n', ' ', '\0', '\ufeff', 'sep=;\n', 'null\n', 'id,text\n', 'a\n'],
  ...['\xff', '\xc3', '\xc3\xa9', '\xef\xbb\xbf', '\xff\xfe', '\xfe\xff', '\x1f\x8b', '\x1a'],
  ...['{"id":1,"text":"a"}\n', '9'.repeat(20)],
];

/** `bytes`: the file or its beginning, one character per byte. */
const input = z.object({
  bytes: z.string(),
  format: z.enum(['csv', 'ndjson', '']),
  encoding: z.enum(['utf-8', 'utf-16le', 'windows-1252', '']),
  pieceBytes: z.number(),
  gzip: z.boolean(),
});
type Input = z.infer<typeof input>;

const cell = fc.oneof(
  fc.constantFrom(
    ...['a', 'two words', '5', '', ' ', 'x"y', '"q"', '"a,b"', '"a\nb"', '"a""b"', '"open', 'caf\xc3\xa9'],
  ),
  fc.string({
    unit: fc.constantFrom(...['"', ',', ';', '\n', '\r', ' ', 'a', '\t', '\xff', '\xc3\xa9']),
    maxLength: 8,
  }),
);
const csv = fc
  .tuple(
    fc.constantFrom(',', ';', '\t'),
    fc.constantFrom('\n', '\r\n', '\r'),
    fc.array(fc.tuple(cell, cell), { maxLength: 8 }),
  )
  .map(([separator, end, rows]) => [['id', 'text'], ...rows].map((row) => row.join(separator)).join(end));
const object = fc.record({ id: fc.oneof(fc.integer(), fc.string()), text: fc.string({ unit: 'grapheme' }) });
const ndjson = fc
  .array(fc.oneof(object, object, fc.jsonValue({ maxDepth: 2 })), { minLength: 1, maxLength: 8 })
  .map((rows) => Buffer.from(rows.map((row) => JSON.stringify(row)).join('\n')).toString('latin1'));

const options = {
  encoding: fc.constantFrom('', '', 'utf-8', 'utf-16le', 'windows-1252'),
  pieceBytes: fc.constantFrom(1, 2, 3, 7, 64),
  gzip: fc.boolean(),
} as const;

export const rows = defineTarget({
  name: 'rows',
  schema: input,
  tokens: TOKENS,
  inputs: fc.oneof(
    fc.record({ bytes: csv, format: fc.constantFrom('csv', 'csv', ''), ...options }),
    fc.record({ bytes: ndjson, format: fc.constantFrom('ndjson', ''), ...options }),
  ) as fc.Arbitrary<Input>,
  async check(made) {
    // A mutation may insert a character above 0xff.
    const given = { ...made, bytes: Buffer.from(made.bytes, 'latin1').toString('latin1') };
    const rows = await readAll(given, { pieceBytes: 1_000_000, gzip: false });
    const pieces = await readAll(given, { pieceBytes: Math.max(1, given.pieceBytes), gzip: given.gzip });
    const isGzip = given.bytes.startsWith('\x1f\x8b');
    must(isGzip || isDeepStrictEqual(rows, pieces), 'the pieces do not matter', () =>
      JSON.stringify([rows, pieces]),
    );
    if (!Array.isArray(rows)) return `refused: ${String(rows)}`;
    checkLines(rows, given);
    if (isArray(given)) return `${outcomeOf(rows)}, an array`;
    const strict = checkStrict(rows, given);
    const around = given.encoding === 'utf-16le' ? 'utf-16' : await checkAround(given);
    return `${outcomeOf(rows)}, ${around}, ${strict}`;
  },
});

type Rows = readonly (Row | BadRow)[];

/** All rows, or the error that prevents reading them. */
async function readAll(
  { bytes, format, encoding }: Pick<Input, 'bytes' | 'format' | 'encoding'>,
  { pieceBytes, gzip, wholeRows }: { pieceBytes: number; gzip: boolean; wholeRows?: boolean },
): Promise<Rows | string> {
  const raw = Buffer.from(bytes, 'latin1');
  const given = {
    text: 'text',
    id: 'id',
    wholeRows,
    ...(format === '' ? {} : { format }),
    ...(encoding === '' ? {} : { encoding }),
  };
  try {
    return await Array.fromAsync(
      readRows(inPieces(gzip ? gzipSync(raw, { level: 1 }) : raw, pieceBytes), given),
    );
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    must(error.message.length < 5_000, 'an error is short', () => error.message);
    return error.failure.kind;
  }
}

/** Whether the input is a JSON array, whose line numbers are the positions of its elements. */
const isArray = ({ format, bytes }: Input) =>
  format === '' && /^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?[\0 \t\r\n]*\[/.test(bytes);

/** Checks that line numbers increase and are within the file, and that faults are not empty and have no control characters. */
function checkLines(read: Rows, given: Input): void {
  const most = isArray(given)
    ? given.bytes.split(',').length
    : given.bytes.split(/\r\n|\r|\n/).length + (given.bytes.match(/\0/g)?.length ?? 0);
  let before = 0;
  for (const row of read) {
    must(
      row.line > before && row.line <= most,
      'lines go up',
      () => `${row.line} after ${before} of ${most}`,
    );
    before = row.line;
    if ('fault' in row)
      must(row.fault.length > 10 && row.fault.length < 1_000, 'a fault says what is wrong', () => row.fault);
    else must(/\S/.test(row.text) && row.text.isWellFormed(), 'a row has text', () => JSON.stringify(row));
  }
}

/** Checks that, if another parser accepts the whole file, each row is read as that parser reads it. */
function checkStrict(read: Rows, given: Input): string {
  const expected = strictRows(given);
  if (expected === undefined) return 'invalid for others';
  const got = read.map((row) => ('fault' in row ? 'fault' : [row.id, row.text]));
  const isSame = isDeepStrictEqual(got, expected);
  must(isSame, 'a valid file is read as another parser reads it', () => JSON.stringify({ got, expected }));
  return 'valid for others';
}

/** Checks that the good rows around the input's second line are all read, whatever that line contains. */
async function checkAround({ bytes, format }: Input): Promise<string> {
  const line = (/[\r\n]([^\r\n]+)/.exec(bytes)?.[1] ?? bytes.replace(/[\r\n].*$/s, '')).slice(0, 1_000);
  const isNdjson = format === 'ndjson';
  const good = (n: number) => (isNdjson ? `{"id":${n},"text":"good ${n}"}` : `${n},good ${n}`);
  // A row with a stray quote must not swallow the rows up to the next row with a stray quote.
  const again = !isNdjson && ONE_QUOTE.test(line) ? [line, good(5)] : [];
  const lines = [...(isNdjson ? [] : ['id,text']), good(1), good(2), line, good(3), good(4), ...again, ''];
  const kind = isNdjson ? 'ndjson' : 'csv';
  const read = await readAll(
    { bytes: lines.join('\n'), format: kind, encoding: 'utf-8' },
    // Otherwise a short row may be read as the rest of the text before it.
    { pieceBytes: 64, gzip: false, wholeRows: true },
  );
  const found = Array.isArray(read)
    ? read.filter((row) => 'text' in row && row.text.startsWith('good '))
    : [];
  const first = isNdjson ? 1 : 2;
  const places = [1, 2, 4, 5, ...(again.length > 0 ? [7] : [])].map((each) => each - 1 + first);
  const isWhole = isDeepStrictEqual(
    found.map((row) => row.line).filter((each) => places.includes(each)),
    places,
  );
  must(isWhole, 'good rows around a bad one are read', () => JSON.stringify({ line, read }));
  return Array.isArray(read) && read.some((row) => 'fault' in row) ? 'around a bad row' : 'around a good row';
}

const ONE_QUOTE = /^[^",]*,[^",]*"[^",]+$/;

function outcomeOf(read: Rows): string {
  const faults = read.flatMap((row) =>
    'fault' in row ? [row.fault.replaceAll(/".*?"|\d+/g, '…').slice(0, 50)] : [],
  );
  return `${faults.length === read.length ? 'no row' : 'rows'}, ${faults[0] ?? 'no fault'}`;
}

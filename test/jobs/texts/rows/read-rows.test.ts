import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowsOptions } from '../../../../lib/jobs/texts/rows/read-rows.ts';
import { guessEncoding } from '../../../../lib/text/encodings.ts';
import { cpuMs } from '../../../cpu-time.ts';
import { inPieces, readRows, singleBytes, utf16be, utf16le } from '../bytes-of.ts';

const read = (bytes: Uint8Array | string, options: Partial<RowsOptions> = {}) =>
  Array.fromAsync(readRows(inPieces(Buffer.from(bytes), 7), { text: 'text', id: 'id', ...options }));

const readAtOnce = (text: string) =>
  Array.fromAsync(readRows(inPieces(Buffer.from(text), 60_000), { text: 'text', id: 'id' }));

const good = (line: number, id: string, text: string) => ({ line, id, text, columns: {} });
const bad = (line: number, fault: string, more: object = {}) => ({
  line,
  fault: expect.stringContaining(fault),
  ...more,
});
const empty = { isEmpty: true };
const withId = { id: '1' };

describe('a text that was split at a line break without quotes', () => {
  const halves: readonly (readonly [string, string, number])[] = [
    ['between others', 'id,text,note\n0,a,b\n1,first half\nsecond half,note\n', 3],
    ['in front', 'text,id\nfirst half\nsecond half,1\n', 2],
    ['at the end', 'id,text\n1,first half\nsecond half\n2,b\n', 2],
    ['into three lines', 'id,text,note\n1,first\nsecond\nthird,note\n', 2],
    ['with a blank line', 'id,text,note\n1,first half\n\nsecond half,note\n', 2],
    ['with a separator in it', 'id;text;note\n1;first half\nsecond half; or so;note\n', 2],
    ['before a number', 'id,text,note\n1,I would give it\n5 stars,note\n', 2],
  ];

  test.each(halves)('(%s) is shown and not scored', async (_, text, line) => {
    const error = await read(text, { name: 'a.csv' }).catch(String);

    expect(error).toMatch(`a.csv: line ${line}: rows: expected quotes around a text with line breaks`);
    expect(error).toMatch(/ use --whole-rows .*\n {2}line \d+: .*\n {2}line \d+: \w/);
  });

  test.each(halves)('(%s) is read if each line is a row', async (_, text) => {
    expect(await read(text, { wholeRows: true })).toHaveLength(text.split('\n').filter(Boolean).length - 1);
  });

  test.each([
    ['with numbers', 'id,text,note\n1,fine\n2,a bad one\n3,so so,x\n'],
    ['with codes', 'id,text,note\nA-1,fine\nB-2,a bad one\n'],
    ['with words, which are no halves of one', 'id,text,a,b\nAnn Lee,fine\nBob,a bad one\n'],
    ['without an id', 'id,text,note\n1,fine\n,a bad one\n'],
    ['with an id alone', 'id,text,note\n1,fine,x\n2\n'],
  ])('is not assumed where rows begin %s', async (_, text) => {
    expect(await read(text)).toHaveLength(text.split('\n').length - 2);
  });
});

describe('a CSV file', () => {
  test('is read by its header, with the lines where its rows start', async () => {
    const rows = await read('id,text,shop\r\n1,"one, ""two""\r\nthree",a\r\n\r\n2,four,b\r\n', {
      columns: ['shop'],
    });

    expect(rows).toEqual([
      { line: 2, id: '1', text: 'one, "two"\r\nthree', columns: { shop: 'a' } },
      { line: 5, id: '2', text: 'four', columns: { shop: 'b' } },
    ]);
  });

  test('has line numbers as ids if there is no id column', async () => {
    expect(await read('text\none\n\ntwo', { id: undefined })).toEqual([
      good(2, '2', 'one'),
      good(4, '4', 'two'),
    ]);
  });

  test.each([
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
    ['pipe', '|'],
  ])('has its separator detected from the header: %s', async (_, separator) => {
    const bytes = `id${separator}text${separator}"a,b;c"\n1${separator}"one, two; three"${separator}x\n`;

    expect(await read(bytes)).toEqual([good(2, '1', 'one, two; three')]);
  });

  test('is read with the separator that yields the requested columns rather than with a more frequent character', async () => {
    expect(await read('id;text;a, b, c, d\n1;one;x\n')).toEqual([good(2, '1', 'one')]);
  });

  test('is read with the requested separator', async () => {
    expect(await read('id/text\n1/one\n', { separator: '/' })).toEqual([good(2, '1', 'one')]);
  });

  test.each(['', 'ab', '"', '\n', '\r'])('cannot have the separator %j', async (separator) => {
    await expect(read('id,text\n1,a', { separator })).rejects.toThrow('separator: expected one character');
  });

  test.each([
    ['a.tsv.gz', 'text,b\tid\nhello,b\tc', undefined],
    ['a.tsv', 'text\n{}', 1],
    ['a.tsv.csv', 'text,b\tid\nhello,b\tc', 1],
    ['a.ndjson.csv', 'text\n{}', 1],
    ['a.NDJSON', 'text\n{}', 2],
    ['a.ndjson.gz', 'text\n{}', 2],
  ])('has its format detected from the name %s: %j', async (name, text, rows) => {
    const found = read(text, { name, id: undefined });

    await (rows === undefined
      ? expect(found).rejects.toThrow('columns: expected "text"')
      : expect(found).resolves.toHaveLength(rows));
  });

  test('may have a long text over many lines', async () => {
    const text = '"quoted"\nline\n'.repeat(2_000);

    expect(await read(`id,text\n1,"${text.replaceAll('"', '""')}"\n2,two\n`)).toEqual([
      good(2, '1', text),
      good(4_003, '2', 'two'),
    ]);
  });
});

describe('rows are read from', () => {
  test('German Excel: semicolons, windows-1252, CRLF', async () => {
    const bytes = singleBytes('id;text\r\n1;Grüße aus Köln – 5 €\r\n2;Schön\r\n', 'windows-1252');

    expect(await read(bytes)).toEqual([good(2, '1', 'Grüße aus Köln – 5 €'), good(3, '2', 'Schön')]);
  });

  test('Excel: a line that names the separator, and a byte order mark', async () => {
    expect(await read('\uFEFFsep=;\r\nid;text\r\n1;a, b\r\n')).toEqual([good(3, '1', 'a, b')]);
    expect(await read('sep=;text\n1;a\n', { id: 'sep=' })).toEqual([good(2, '1', 'a')]);
  });

  test('UTF-16 without a byte order mark', async () => {
    const text = Buffer.from('id,text\r\n1,schön\r\n', 'utf16le');

    expect(await read(text)).toEqual([good(2, '1', 'schön')]);
    expect(await read(text.swap16())).toEqual([good(2, '1', 'schön')]);
  });

  test('files whose rows lack their last fields, which are empty', async () => {
    expect(await read('id,text,note,shop\n1,one\n2,two,x\n', { columns: ['shop'] })).toEqual([
      { ...good(2, '1', 'one'), columns: { shop: '' } },
      { ...good(3, '2', 'two'), columns: { shop: '' } },
    ]);
  });

  test('files whose rows have more separators than the header, with nothing behind them', async () => {
    expect(await read('id,text\n1,one,,\n2,two, \n')).toEqual([good(2, '1', 'one'), good(3, '2', 'two')]);
  });

  test('files with a repeated or empty column name, if that column is not requested', async () => {
    expect(await read('id,,note,note,,text\n1,,a,b,,one\n')).toEqual([good(2, '1', 'one')]);
  });

  test('files with separators at the ends of all lines, from empty columns', async () => {
    expect(await read('id;text;;\n1;one;;\n;;;\n')).toEqual([good(2, '1', 'one')]);
  });

  test('files with blank lines, with spaces or without', async () => {
    expect(await read('id,text\n  \n1,one\n\n')).toEqual([good(3, '1', 'one')]);
  });

  test('a short text with one accent, in windows-1252', async () => {
    expect(await read(singleBytes('id;text\n1;crème\n', 'windows-1252'))).toEqual([good(2, '1', 'crème')]);
  });

  test.each([
    ['windows-1251', 'Отличный сервис, всем рекомендую. Очень плохо, больше не приду'],
    ['koi8-r', 'Отличный сервис, всем рекомендую. Очень плохо, больше не приду'],
    [
      'windows-1250',
      'Bardzo dobra obsługa, dziękuję. Świetny produkt, ale długo czekałem na przesyłkę, zażółć',
    ],
    ['iso-8859-7', 'Πολύ καλή εξυπηρέτηση, ευχαριστώ'],
    ['windows-1252', 'Très déçu du service, je ne reviendrai pas. Œuvre géniale à l’écran'],
  ])('%s, detected from its bytes', async (encoding, text) => {
    expect(await read(singleBytes(`id\ttext\n1\t${text}\n`, encoding))).toEqual([good(2, '1', text)]);
  });

  test('Shift_JIS, detected from its bytes', async () => {
    const text = '82b182f182c982bf82cd90a28a45814282c682c482e082e682a982c182bd82c58142';
    const bytes = Buffer.concat([Buffer.from('id,text\n1,'), Buffer.from(text, 'hex')]);

    expect(await read(bytes)).toEqual([good(2, '1', 'こんにちは世界。とてもよかったで。')]);
  });

  test('the requested encoding, which the bytes do not reveal', async () => {
    const bytes = singleBytes('id,text\n1,Labrīt kaķis\n', 'windows-1257');

    expect(await read(bytes, { encoding: 'windows-1257' })).toEqual([good(2, '1', 'Labrīt kaķis')]);
    await expect(read(bytes, { encoding: 'klingon' })).rejects.toThrow(
      'encoding: expected an encoding such as',
    );
  });

  test('truncated gzip is an error, not a shorter file', async () => {
    const cut = gzipSync('id,text\n1,one\n').subarray(0, -6);

    await expect(read(cut)).rejects.toThrow(
      /^line \d+: gzip: expected a complete file, got unexpected end of file: create it again$/,
    );
  });
});

describe('an unusable header', () => {
  test('lacks a column: the error lists the existing names', async () => {
    await expect(read('id;comment\n')).rejects.toThrow('got a header with "id", "comment"');
    await expect(read('id,comment\n1,one\n', { columns: ['shop'] })).rejects.toThrow(
      'line 1: columns: expected "text", "shop", got a header with "id", "comment"',
    );
  });

  test('names a column twice', async () => {
    await expect(read('id,text,text\n1,one,two\n')).rejects.toThrow(
      'expected each requested name only once, got "text" more than once',
    );
  });

  test('is missing', async () => {
    await expect(read('\n\n')).rejects.toThrow('the header: expected column names, got nothing');
  });

  test('has an unclosed quote', async () => {
    await expect(read('id,"text\n1,one\n')).rejects.toThrow('got a broken quote');
  });
});

describe('a bad row does not stop the rows after it:', () => {
  test.each<[string, string, string, object?]>([
    ['too few fields', '1', 'text: expected text, got an empty value', { ...withId, ...empty }],
    ['too many fields', '1,one,two', 'expected 2 fields, got 3', withId],
    ['an empty text', '1, ', 'text: expected text, got an empty value', { ...withId, ...empty }],
    ['an empty id', ' ,one', 'id: expected an id, got an empty value'],
    ['a quote inside an unquoted field', '1,5" disk', 'a broken quote'],
    ['a quote inside a quoted field', '1,"one "two" three"', 'a broken quote'],
    ['a quote that never closes', '1,"one', 'it is not closed within'],
  ])('%s', async (_, row, fault, more) => {
    expect(await read(`id,text\n${row}\n2,two\n3,three\n`)).toEqual([
      bad(2, fault, more),
      good(3, '2', 'two'),
      good(4, '3', 'three'),
    ]);
  });

  /** Rows below a header with id and text, and the lines on which rows begin; those of bad rows are negative. */
  test.each<[string, readonly string[], readonly number[]]>([
    ['quotes that never close', ['1,"one', '2,two', '3,"three"', '4,"four', '5,five'], [-2, 3, 4, -5, 6]],
    ['stray quotes', ['1,5" disk', '2,two', '3,7" disk', '4,four'], [-2, 3, -4, 5]],
    [
      'a quote that never closes, and a stray one',
      ['1,"one', '2,two', '3,7" disk', '4,four'],
      [-2, 3, -4, 5],
    ],
    ['a stray quote, and one at an end', ['1,5" disk', '2,two', '3,"three" or "', '4,four'], [-2, 3, -4, 5]],
    ['a stray quote, and a row of its own', ['1,"a"b"', '2,c', '3,"d"'], [-2, 3, 4]],
    ['a quote that opens a field of another row', ['1,"a"b"', '2,c', '3,"', '4,e'], [-2, 3, -4, 5]],
    ['a broken text whose lines look like rows', ['1,"he said "hi"', 'to me', 'and so,"', '2,two'], [-2, 5]],
    ['a broken text', ['1,"he said "hi" to', 'me, and', 'you, too"', '2,two'], [-2, 5]],
    ['a broken row before another', ['1,"a"b"', '2,c,d', '3,"', '4,e'], [-2, 5]],
    [
      'a quote that closes too far away',
      [`1,"${'x'.repeat(600_000)}`, 'y'.repeat(600_000), '2,"two"'],
      [-2, -3, 4],
    ],
  ])('%s', async (_, rows, lines) => {
    const found = await readAtOnce(['id,text', ...rows, ''].join('\n'));

    expect(found.map((row) => ('fault' in row ? -row.line : row.line))).toEqual(lines);
  });

  test('a field whose quote closes early in the middle of a row, over two lines', async () => {
    expect(await read('id,text,shop\n1,"a"b"\n3,",x\n4,e,y\n')).toEqual([
      bad(2, '(lines 2 to 3 are skipped)'),
      good(4, '4', 'e'),
    ]);
  });

  test('a row of more than the maximum length, over several lines', async () => {
    const [most, over] = [1_048_576 - '1,""'.length, 1_048_577 - '1,""'.length];
    const textOf = (length: number) =>
      `id,text\n1,"${'x'.repeat(500_000)}\n${'y'.repeat(length - 500_000)}"\n`;

    expect(await readAtOnce(textOf(most))).toMatchObject([{ line: 2, id: '1' }]);
    expect((await readAtOnce(textOf(over)))[0]).toMatchObject({ line: 2, fault: expect.any(String) });
  });

  test('invalid bytes in a later line of a row', async () => {
    const bytes = Buffer.concat([Buffer.from('id,text\n1,"a\n'), Buffer.from([0xff]), Buffer.from('"\n2,b')]);

    expect(await read(bytes, { encoding: 'utf-8' })).toEqual([
      bad(
        2,
        'the line: expected utf-8, got invalid bytes: choose another encoding with --encoding (lines 2 to 3 are skipped)',
      ),
      good(4, '2', 'b'),
    ]);
  });

  test('bytes that are invalid in the encoding', async () => {
    const bytes = Buffer.concat([
      Buffer.from('id,text\n1,Grüße\n2,br'),
      Buffer.from([0xff]),
      Buffer.from('ken\n3,schön \uFFFD\n'),
    ]);

    expect(await read(bytes)).toEqual([
      good(2, '1', 'Grüße'),
      bad(3, 'expected utf-8, got invalid bytes'),
      good(4, '3', 'schön \uFFFD'),
    ]);
  });

  test('half a character at the end of UTF-16, and a lone surrogate', async () => {
    expect(await read(Buffer.concat([utf16le('id,text\n1,a\uD800b\n2,b'), Buffer.from([0x62])]))).toEqual([
      bad(2, 'the line: expected utf-16le, got invalid bytes'),
      bad(3, 'the line: expected utf-16le, got invalid bytes'),
    ]);
  });

  test('a line that is too long, by itself and inside quotes', async () => {
    const long = 'x'.repeat(1_048_576);
    const rows = await readAtOnce(`id,text\n1,${long}\n2,"a\n${long}"\n3,three\n4,"four\n`);

    expect(rows).toEqual([
      bad(2, 'expected at most 1048576 bytes'),
      bad(3, 'it is not closed within'),
      bad(4, 'expected at most 1048576 bytes'),
      good(5, '3', 'three'),
      bad(6, 'it is not closed within'),
    ]);
  });
});

test('a header of 60,000 names is read quickly, and a fault in it is short', async () => {
  const names = Array.from({ length: 60_000 }, (_, at) => `c ${at}`);
  const missing = () => read(`${names.join(',')}\n`, { text: 'gone', id: undefined });
  const repeated = () =>
    read(`text,${names.join(',')},${names.join(',')}\n`, { id: undefined, columns: names });

  const tookMs = await cpuMs(async () => {
    await expect(missing()).rejects.toThrow(
      /^line 1: columns: expected "gone", got a header with "c 0", .{0,400} and 59980 more: the first line must be the header$/,
    );
    await expect(repeated()).rejects.toThrow(/^.{0,600} and 59980 more more than once$/);
  });

  // It would take minutes if each name were compared with all others.
  expect(tookMs).toBeLessThan(10_000);
});

describe('an NDJSON file', () => {
  test('has one bad row if a value is nested too deeply, or has an integer that is too long', async () => {
    const deep = `{"id":"1","text":"one","x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const long = `{"id":"2","text":"two","x":${'7'.repeat(5_000)}}`;
    const lines = [deep, long, '{"id":"3","text":"three","x":[1]}'].join('\n');

    expect(await read(lines, { format: 'ndjson', columns: ['x'] })).toEqual([
      bad(1, 'the line: expected at most 512 levels of nested arrays and objects, got more'),
      bad(2, 'the line: expected integers of at most 1000 digits, got 5000'),
      { line: 3, id: '3', text: 'three', columns: { x: '[1]' } },
    ]);
  });

  test('is recognized by its name or its first character, and keeps the digits of ids', async () => {
    const line = '{"id":12345678901234567890,"text":"one","n":1.5,"o":{"a":null},"z":null}\r\n';
    const columns = ['n', 'o', 'z'];

    const row = {
      line: 2,
      id: '12345678901234567890',
      text: 'one',
      columns: { n: '1.5', o: '{"a":null}', z: '' },
    };
    expect(await read(`\n${line}`, { columns })).toEqual([row]);
    expect(await read(utf16be(`\n${line}`), { columns })).toEqual([row]);
    expect(await read(`\n${line}`, { columns, name: 'inbox/texts.JSONL.gz' })).toEqual([row]);
    await expect(read(line, { name: 'texts.csv' })).rejects.toThrow('column names');
    await expect(read(line, { format: 'csv' })).rejects.toThrow('column names');
  });

  test.each<[string, string, string, object?]>([
    ['invalid JSON', '{"id":1,"text":', 'expected a JSON object, got invalid JSON'],
    ['a list', '[1]', 'expected a JSON object, got a list of 1'],
    ['a text, which is not shown', '"secret"', 'the line: expected a JSON object, got a string'],
    ['no text', '{"id":1}', 'text: expected a field of this name in the row, got none', withId],
    ['a text that is not a string', '{"id":1,"text":5}', 'text: expected text, got 5', withId],
    ['null as its text', '{"id":1,"text":null}', 'text: expected text, got null', { ...withId, ...empty }],
    ['neither id nor text', '{"text":null}', 'text: expected text, got null; id: expected a field', empty],
    [
      'an empty text',
      '{"id":1,"text":" "}',
      'text: expected text, got an empty value',
      { ...withId, ...empty },
    ],
    ['no id', '{"text":"one"}', 'id: expected a field of this name in the row, got none'],
    ['an invalid id', '{"id":true,"text":"one"}', 'id: expected an id, got true'],
    [
      'a name that every object inherits',
      '{"id":1,"toString":"one"}',
      'text: expected a field of this name in the row, got none',
      withId,
    ],
  ])('is read further after %s', async (_, line, fault, more) => {
    expect(await read(`${line}\n{"id":"2","text":"two"}\n`, { format: 'ndjson' })).toEqual([
      bad(1, fault, more),
      good(2, '2', 'two'),
    ]);
  });

  test('has the readable columns of a bad row', async () => {
    const columns = ['shop', 'note'];

    expect(await read('{"id":7,"shop":{"n":1},"text":null}\n', { columns })).toEqual([
      bad(1, 'text: expected text, got null; note: expected a field', {
        id: '7',
        columns: { shop: '{"n":1}' },
        ...empty,
      }),
    ]);
    expect(await read('shop,id,text,note\nA,1,good, but late,x\nB,2,,y\n', { columns })).toEqual([
      bad(2, 'expected 4 fields, got 5', { id: '1', columns: { shop: 'A' } }),
      bad(3, 'text: expected text', { id: '2', columns: { shop: 'B', note: 'y' }, ...empty }),
    ]);
  });

  test('is reported if one object spans several lines, before its lines count as rows', async () => {
    await expect(read('\n{\n  "data": []\n}\n')).rejects.toThrow(
      'expected CSV, NDJSON or a JSON array of objects, got one JSON object over several lines',
    );
  });
});

describe('a JSON array', () => {
  const ARRAY =
    '\uFEFF [\n {"id": 1, "text": "one, [\\"two\\"]}"}, {"text": "x"},7 ,{"id":"2",\n"text":"👍"}\n]\n';
  const rows = [
    good(1, '1', 'one, ["two"]}'),
    bad(2, 'id: expected a field of this name in the row, got none'),
    bad(3, 'expected a JSON object, got 7'),
    good(4, '2', '👍'),
  ];

  test.each([
    ['UTF-8', Buffer.from(ARRAY)],
    ['UTF-16', utf16le(ARRAY.slice(1))],
    ['gzip', gzipSync(ARRAY)],
  ])('as %s is read like NDJSON, with the numbers of its elements as lines', async (_, bytes) => {
    expect(await read(bytes)).toEqual(rows);
    expect(await read(bytes, { name: 'export.ndjson' })).toEqual(rows);
  });

  test('may be empty', async () => {
    expect(await read('[ ]')).toEqual([]);
  });

  test('may have strings with quotes, brackets and backslashes', async () => {
    expect(await read(String.raw`[{"id":"1","text":"say \"a],\\"},{"id":"2","text":"b"}]`)).toMatchObject([
      { id: '1', text: 'say "a],\\' },
      { id: '2', text: 'b' },
    ]);
  });

  test.each([
    ['[{"id":1,"text":"one"}', 'a JSON array that does not end'],
    ['[{"id":1,"text":"one"}] {"id":2}', 'a JSON array with other characters after it'],
    ['[{"id":1,"text":"one"}][]', 'a JSON array with other characters after it'],
  ])('is refused if it is %s', async (text, got) => {
    await expect(read(text)).rejects.toThrow(
      `line 1: expected CSV, NDJSON or a JSON array of objects, got ${got}`,
    );
  });

  test('is read with one element in memory at a time, and an element that is too long is named', async () => {
    const long = JSON.stringify({ id: 1, text: 'x'.repeat(1_100_000) });

    expect(await read(gzipSync(`[${long},{"id":2,"text":"two"}]`))).toEqual([
      bad(1, 'the element: expected at most 1048576 bytes, got more'),
      good(2, '2', 'two'),
    ]);
  });
});

test.each([
  ['PK\x03\x04\0\0 xl/workbook.xml', 'an Excel workbook: save its sheet as CSV UTF-8'],
  ['PK\x03\x04\0\0 [Content_Types].xml … spreadsheetml', 'an Excel workbook'],
  ['PK\x03\x04\0\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet', 'an OpenDocument workbook'],
  ['PK\x03\x04\0\0 Index/Document.iwa', 'a Numbers document'],
  ['PK\x03\x04\0\0 word/document.xml', 'an office document'],
  ['PK\x03\x04\0\0 a.csv', 'a ZIP archive: extract the file from it'],
  ['\xd0\xcf\x11\xe0…', 'an Excel workbook of an old version, or one with a password'],
  ['<html><table>', 'a web page'],
  ['\xef\xbb\xbf<?xml version="1.0"?>\n<Workbook', 'an Excel workbook (XML)'],
  ['SQLite format 3\0', 'an SQLite database'],
  ['\x89PNG', 'an image'],
  ['PAR1\x15…', 'a Parquet file'],
  ['\x28\xb5\x2f\xfd…', 'a file compressed by zstd'],
  ['%PDF-1.7', 'a PDF'],
  ['id,text\n1,\x00\x00\x00\x00', 'zero bytes, which a text does not contain'],
])('files that contain no text are named: %j', async (head, got) => {
  await expect(read(Buffer.from(head, 'latin1'))).rejects.toThrow(got);
});

test.each([
  ['half of a byte order mark', [0xff, 0x41, 0x42, 0x43], /^(?!utf)/],
  ['no more valid characters than broken bytes', [0xc3, 0xa9, 0xff], /^(?!utf)/],
  ['a lone euro sign in windows-1252', [0x80], /^windows-1252$/],
  [
    'surrogates of three bytes each, as CESU-8 has them',
    Array(20).fill([0xed, 0xa0, 0xbd]).flat(),
    /^(?!utf)/,
  ],
  ['one broken byte, and a character that is cut off', [0xc3, 0xa9, 0xc3, 0xa9, 0xff, 0x41, 0xc3], /^utf-8$/],
  ['U+FFFD, and a character that is cut off', [0xef, 0xbf, 0xbd, 0xc3], /^utf-8$/],
])('the encoding of bytes is detected: %s', async (_, bytes, name) => {
  expect((await guessEncoding(Buffer.from(bytes)))?.encoding).toMatch(name);
});

test.each([[[0x1f, 0x41]], [[0x41, 0x8b]], [[0x1f]]])('%j is refused as gzip', async (first) => {
  const bytes = Buffer.concat([Buffer.from(first), Buffer.from(',text\nx,one\n')]);

  expect(await read(bytes, { id: undefined, encoding: 'latin1' })).toEqual([good(2, '2', 'one')]);
});

describe('streaming', () => {
  test('reads no more than the consumed rows need, and closes the source', async () => {
    let given = 0;
    let closed = false;
    async function* endless() {
      try {
        yield Buffer.from('id,text\n');
        for (;;) {
          given += 1;
          yield Buffer.from('1,one\n'.repeat(10_000));
        }
      } finally {
        closed = true;
      }
    }

    const rows = readRows(endless(), { text: 'text' });
    await rows.next();
    expect(given).toBe(5);
    await rows.return(undefined);
    expect(closed).toBe(true);
  });

  test('decompresses no more than the consumed rows need', async () => {
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 1;
        yield gzipSync(`text\n${randomBytes(50_000).toString('hex')}\n`);
      }
    }

    const rows = readRows(endless(), { text: 'text' });
    await rows.next();
    expect(given).toBeLessThan(10);
    await rows.return(undefined);
  });

  test('reads from an iterator that cannot be closed', async () => {
    const rest = [Buffer.from('text\none\n')];
    const source: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          const value = rest.shift();
          return value === undefined ? { done: true, value: undefined } : { done: false, value };
        },
      }),
    };

    expect(await Array.fromAsync(readRows(source, { text: 'text' }))).toHaveLength(1);
  });

  test('rethrows an error of the source unchanged', async () => {
    async function* failing() {
      yield gzipSync('id,text\n1,one\n').subarray(0, 20);
      throw new Error('connection reset');
    }

    await expect(Array.fromAsync(readRows(failing(), { text: 'text' }))).rejects.toThrow(
      /^connection reset$/,
    );
  });
});

describe('whatever is written is read back', () => {
  const ENCODERS = {
    'utf-8': (text: string) => Buffer.from(text),
    'utf-8 with mark': (text: string) => Buffer.from(`\uFEFF${text}`),
    'utf-16le': utf16le,
    'utf-16be': utf16be,
    'gzip of utf-8': (text: string) => gzipSync(text),
  } as const;
  const field = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.string({ unit: fc.constantFrom('"', '\n', '\r', ',', ';', '\t', '|', 'a', ' ', 'é'), minLength: 1 }),
  );
  const text = field.filter((value) => /\S/.test(value));
  const source = fc.record({
    rows: fc.array(fc.record({ id: text, text, other: fc.oneof(fc.constant(''), field) }), { maxLength: 8 }),
    separator: fc.constantFrom(',', ';', '\t', '|'),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    endsLast: fc.boolean(),
    quotesAll: fc.boolean(),
    encoding: fc.constantFrom(...(Object.keys(ENCODERS) as (keyof typeof ENCODERS)[])),
    pieceBytes: fc.integer({ min: 1, max: 64 }),
  });
  const quoted = (value: string, all: boolean) =>
    all || /[",;\t|\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;

  test('as CSV with any separator, line ending, quoting and encoding', async () => {
    await fc.assert(
      fc.asyncProperty(
        source,
        async ({ rows, separator, end, endsLast, quotesAll, encoding, pieceBytes }) => {
          const table = [['id', 'text', 'other'], ...rows.map((row) => [row.id, row.text, row.other])];
          const lines = table.map((row) => row.map((value) => quoted(value, quotesAll)).join(separator));
          const bytes = ENCODERS[encoding](lines.join(end) + (endsLast ? end : ''));
          const options = { text: 'text', id: 'id', columns: ['other'], format: 'csv' } as const;

          const back = await Array.fromAsync(readRows(inPieces(bytes, pieceBytes), options));

          const read = back.map((row) => ('fault' in row ? row : { ...row, line: 0 }));
          expect(read).toEqual(
            rows.map(({ id, text, other }) => ({ line: 0, id, text, columns: { other } })),
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});

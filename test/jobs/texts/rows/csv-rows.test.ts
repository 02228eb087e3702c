import { describe, expect, test } from 'vitest';
import { csvFields } from '../../../../lib/jobs/texts/rows/csv-fields.ts';
import { openTableFile } from '../../../../lib/jobs/texts/rows/csv-table.ts';
import { readRows } from '../../../../lib/jobs/texts/rows/read-rows.ts';
import { RowsError } from '../../../../lib/jobs/texts/rows/rows-error.ts';
import { inPieces } from '../bytes-of.ts';

const read = (text: string | Uint8Array, options = {}) =>
  Array.fromAsync(
    readRows(inPieces(Buffer.from(text), 100_000), { text: 'text', id: 'id', format: 'csv', ...options }),
  );

describe('the fields of a row', () => {
  test.each(['\n', '\r', '\r\n'])('contain a line break %j only inside quotes', (end) => {
    expect(csvFields(`a,b${end}c`, ',')).toEqual({
      kind: 'broken',
      fault: 'a line break: expected it inside quotes',
      isStrayQuote: false,
    });
    expect(csvFields(`a,"b${end}c"`, ',')).toEqual({ kind: 'fields', fields: ['a', `b${end}c`] });
  });

  test('of an empty row are one, which is empty', () => {
    expect(csvFields('', ',')).toEqual({ kind: 'fields', fields: [''] });
  });
});

describe('a header', () => {
  async function headerOf(requested: readonly string[], ...lines: readonly string[]) {
    const bytes = inPieces(Buffer.from(lines.join('\n')), 100_000);
    await using table = await openTableFile(bytes, { requested });
    return { separator: table.separator, names: table.names };
  }

  test('has names without the spaces around them', async () => {
    expect(await headerOf(['text'], ' text , id')).toEqual({ separator: ',', names: ['text', 'id'] });
  });

  test('comes after a line that declares its separator, and only after such a line', async () => {
    expect(await headerOf(['text'], 'sep=|', 'text|a,b')).toEqual({ separator: '|', names: ['text', 'a,b'] });
    expect(await headerOf(['x'], 'sep=;x')).toMatchObject({ names: ['sep=', 'x'] });
    expect(await headerOf(['xsep='], 'xsep=;')).toMatchObject({ names: ['xsep=', ''] });
  });

  test('that lacks a column is described by the separator outside of quotes', async () => {
    await expect(headerOf(['text'], '"a;b;c",d')).rejects.toMatchObject({
      failure: { kind: 'columns', missing: ['text'], present: ['a;b;c', 'd'] },
    });
  });
});

describe('a broken row', () => {
  test('of one line names no others', async () => {
    expect(await read('id,text\n1,a,b\n2,c')).toEqual([
      { line: 2, fault: 'the row: expected 2 fields, got 3', id: '1' },
      { line: 3, id: '2', text: 'c', columns: {} },
    ]);
  });

  test('whose quote never closes is one line, whatever follows', async () => {
    const closed = 'a broken quote: expected it to be closed within 1048576 characters, got no closing quote';

    expect(await read('id,text\n1,"a\n2,b')).toEqual([
      { line: 2, fault: closed },
      { line: 3, id: '2', text: 'b', columns: {} },
    ]);
  });

  test('whose quote closes too far away is one line', async () => {
    const rows = await read(`id,text\n1,"${'x'.repeat(600_000)}\n2,${'y'.repeat(600_000)}"\n3,c`);

    expect(rows[0]).toEqual({ line: 2, fault: expect.stringContaining('expected it to be closed within') });
    expect(rows.at(-1)).toEqual({ line: 4, id: '3', text: 'c', columns: {} });
  });

  test('with a quote in an unquoted field is one line', async () => {
    expect(await read('id,text\n1,a"b\n2,c')).toEqual([
      { line: 2, fault: expect.stringContaining('expected a field that contains quotes to be quoted') },
      { line: 3, id: '2', text: 'c', columns: {} },
    ]);
  });

  test('is one line if those up to the next quote are rows of their own', async () => {
    const rows = await read('id,text\n1,"a"b"\n2,c\n3,"d"\n');

    expect(rows.map(({ line }) => line)).toEqual([2, 3, 4]);
    expect(rows[1]).toEqual({ line: 3, id: '2', text: 'c', columns: {} });
  });

  test('is one line if that quote opens a field in a row of its own', async () => {
    const rows = await read('id,text\n1,"a"b"\n2,c\n3,"\n4,e\n');

    expect(rows.map((each) => [each.line, 'fault' in each])).toEqual([
      [2, true],
      [3, false],
      [4, true],
      [5, false],
    ]);
  });

  test('is all lines up to a quote at the end of a field that no row opens there', async () => {
    const rows = await read('id,text,shop\n1,"a"b"\n3,",x\n4,e,y\n');

    expect(rows).toEqual([
      { line: 2, fault: expect.stringContaining('(lines 2 to 3 are skipped)') },
      { line: 4, id: '4', text: 'e', columns: {} },
    ]);
  });

  test('whose quotes are even is not one whose quote never closes', async () => {
    const [row] = await read('id,text\n1,"a"b"c"\n');

    expect(row).toEqual({ line: 2, fault: expect.not.stringContaining('got no closing quote') });
  });

  test('may be as long as a row, over its lines', async () => {
    const [most, over] = [1_048_576 - '1,""'.length, 1_048_577 - '1,""'.length];
    const textOf = (length: number) =>
      `id,text\n1,"${'x'.repeat(500_000)}\n${'y'.repeat(length - 500_000)}"\n`;

    expect(await read(textOf(most))).toMatchObject([{ line: 2, id: '1' }]);
    expect((await read(textOf(over)))[0]).toMatchObject({ line: 2, fault: expect.any(String) });
  });

  test('is all lines up to the next quote if they are not', async () => {
    const rows = await read('id,text\n1,"a"b"\n2,c,d\n3,"\n4,e\n');

    expect(rows).toEqual([
      { line: 2, fault: expect.stringMatching(/^a broken quote.* \(lines 2 to 4 are skipped\)$/) },
      { line: 5, id: '4', text: 'e', columns: {} },
    ]);
  });

  test('with invalid bytes in a later line is named by its first', async () => {
    const bytes = Buffer.concat([Buffer.from('id,text\n1,"a\n'), Buffer.from([0xff]), Buffer.from('"\n2,b')]);

    expect(await read(bytes, { encoding: 'utf-8' })).toEqual([
      { line: 2, fault: 'the line: expected utf-8, got invalid bytes (lines 2 to 3 are skipped)' },
      { line: 4, id: '2', text: 'b', columns: {} },
    ]);
  });

  test('has an id of spaces', async () => {
    expect(await read('id,text\n  ,a')).toEqual([
      { line: 2, fault: 'id: expected an id, got an empty value' },
    ]);
  });
});

describe('the name of a file', () => {
  const text = 'text,a\tid\nhello,b\tc';

  test.each(['a.tsv', 'a.TSV', 'a.tsv.gz'])('%s says that tabs separate', async (name) => {
    await expect(read(text, { name, id: undefined })).rejects.toBeInstanceOf(RowsError);
  });

  test.each(['a.tsv.csv', 'a.csv', undefined])('%s does not', async (name) => {
    expect(await read(text, { name, id: undefined })).toMatchObject([{ text: 'hello' }]);
  });

  test.each([
    ['a.jsonl', 2],
    ['a.NDJSON', 2],
    ['a.ndjson.gz', 2],
    ['a.ndjson.csv', 1],
    ['a.tsv', 1],
  ])('%s says whether its first line is a row: %i rows', async (name, rows) => {
    expect(await read('text\n{}', { name, format: undefined, id: undefined })).toHaveLength(rows);
  });
});

test.each(['', 'ab', '"', '\n', '\r'])('%j is no separator', async (separator) => {
  await expect(read('id,text\n1,a', { separator })).rejects.toMatchObject({
    failure: { kind: 'option', option: 'separator' },
  });
});

describe('a line of NDJSON', () => {
  const lines = (text: string | Uint8Array) => read(text, { format: 'ndjson', encoding: 'utf-8' });

  test('with invalid bytes, of null or of text is a bad row, and does not show the text', async () => {
    const bytes = Buffer.concat([Buffer.from('null\n"secret"\n'), Buffer.from([0xff])]);

    expect(await lines(bytes)).toEqual([
      { line: 1, fault: 'the line: expected a JSON object, got null' },
      { line: 2, fault: 'the line: expected a JSON object, got a string' },
      { line: 3, fault: 'the line: expected utf-8, got invalid bytes' },
    ]);
  });

  test('with nothing but spaces is skipped', async () => {
    expect(await lines('  \n{"id":"1","text":"a"}\n\t')).toEqual([
      { line: 2, id: '1', text: 'a', columns: {} },
    ]);
  });
});

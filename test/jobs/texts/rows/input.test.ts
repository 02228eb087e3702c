import { expect, test } from 'vitest';
import { createIdIndex, createInput } from '../../../../lib/jobs/texts/rows/read-rows.ts';
import { inPieces, singleBytes } from '../bytes-of.ts';

async function found(bytes: Uint8Array | string, options: Partial<Parameters<typeof createInput>[1]> = {}) {
  const input = createInput(() => inPieces(Buffer.from(bytes), 1_000), { text: 'text', ...options });
  const before = input.found();
  const rows = await Array.fromAsync(input.rows());
  return { before, rows: rows.length, ...input.found() };
}

test('an input reports its format only after its rows have been read', async () => {
  const german = singleBytes('id;text\n1;schön\n2;größer\n', 'windows-1252');

  expect(await found(german)).toEqual({
    before: undefined,
    rows: 2,
    format: 'csv',
    encoding: 'windows-1252',
    separator: ';',
    skipped: 0,
    blank: 0,
    short: 0,
    repeatedIds: undefined,
  });
  expect(await found('[{"text":"one"}]')).toMatchObject({ format: 'json', encoding: 'utf-8' });
});

test('rows without a text are skipped on request, and counted', async () => {
  const text = '{"id":1,"text":""}\n{"id":2,"text":null}\n{"id":3}\n{"id":4,"text":"four"}\n';

  expect(await found(text, { id: 'id', skipEmpty: true })).toMatchObject({ rows: 2, skipped: 2 });
  expect(await found(text, { id: 'id' })).toMatchObject({ rows: 4, skipped: 0 });
});

test('lines whose cells are all empty are not rows, and are counted', async () => {
  const text = 'id;text;note\n1;one;\n;;\n\n" "; ;\n;;;;\n;;left\n2;two;\n';

  expect(await found(text, { id: 'id' })).toMatchObject({ rows: 3, blank: 4 });
});

test('repeated ids are reported with both lines, even if one is a bad row', async () => {
  const text = 'id,text\n7,one\n8,two\n7,three\n007,four\n8,\n7,five\n';

  expect(await found(text, { id: 'id' })).toMatchObject({
    repeatedIds: {
      rows: 3,
      first: [
        { id: '7', lines: [2, 4] },
        { id: '8', lines: [3, 6] },
        { id: '7', lines: [2, 7] },
      ],
    },
  });
});

test('a hundred thousand ids are distinguished, and of many repeated ones a few are named', () => {
  const ids = createIdIndex();

  for (let line = 1; line <= 100_000; line += 1) ids.add(`row-${line}`, line);
  for (let line = 1; line <= 1_000; line += 1) ids.add(`row-${line}`, 100_000 + line);

  const { rows, first } = ids.found();
  expect({ rows, named: first.length, last: first.at(-1) }).toEqual({
    rows: 1_000,
    named: 20,
    last: { id: 'row-20', lines: [20, 100_020] },
  });
});

test('repeated ids are found only among the ids before the memory limit', () => {
  const ids = createIdIndex(10);

  for (let line = 1; line <= 12; line += 1) ids.add(`row-${line}`, line);
  ids.add('row-3', 13);
  ids.add('row-12', 14);

  expect(ids.found()).toEqual({ rows: 1, first: [{ id: 'row-3', lines: [3, 13] }] });
});

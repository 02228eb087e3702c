import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { csvLine, csvOutput, writeTextFile } from '../../lib/text/index.ts';
import { folderOfEach } from '../folder-of-each.ts';

const folder = folderOfEach();
const at = (name: string) => join(folder.path, name);
const modeOf = async (name: string) => ((await stat(at(name))).mode & 0o777).toString(8);

beforeEach(async () => {
  await writeFile(at('rows.csv'), 'id,text\n');
  await chmod(at('rows.csv'), 0o600);
});

const write = (options: { readonly sourceFile?: string } = {}) =>
  writeTextFile(
    at('scored.csv'),
    async function* () {
      yield 'id,text\n';
    },
    { isGzipped: false, ...options },
  );

test('a new file may be read by the users who could read its source, and by no other users', async () => {
  await write({ sourceFile: at('rows.csv') });

  expect(await modeOf('scored.csv')).toBe('600');
  expect(await readFile(at('scored.csv'), 'utf8')).toBe('id,text\n');
});

test('a file that is replaced stays as private as it was, whatever its source is', async () => {
  await writeFile(at('scored.csv'), 'old');
  await chmod(at('scored.csv'), 0o640);
  await chmod(at('rows.csv'), 0o644);

  await write({ sourceFile: at('rows.csv') });

  expect(await modeOf('scored.csv')).toBe('640');
});

test('a file that its owner may only read can be replaced again', async () => {
  await chmod(at('rows.csv'), 0o400);

  await write({ sourceFile: at('rows.csv') });
  await write({ sourceFile: at('rows.csv') });

  expect(await modeOf('scored.csv')).toBe('600');
});

async function* lines(...texts: readonly string[]) {
  yield* texts;
}

test('a file is in the requested encoding, or in UTF-8 with a byte order mark if that lacks a character', async () => {
  const options = { isGzipped: false, encoding: 'windows-1252' };

  expect(await writeTextFile(at('a.csv'), () => lines('é', '€\r\n'), options)).toBe('windows-1252');
  expect(await writeTextFile(at('b.csv'), () => lines('é', '模\r\n'), options)).toBe('utf-8');

  expect((await readFile(at('a.csv'))).toString('hex')).toBe('e9800d0a');
  expect(await readFile(at('b.csv'), 'utf8')).toBe('\uFEFFé模\r\n');
});

test('cells are written unchanged; isSafe prefixes formulas, but not numbers, with an apostrophe', () => {
  const cells = ['=1+1', '+SUM(A1)', '-2.5', '+49', '-x', '@a', 'a=b', '\t=1', ''];

  expect(csvLine(cells, { separator: ';' })).toBe('=1+1;+SUM(A1);-2.5;+49;-x;@a;a=b;"\t=1";\r\n');
  expect(csvLine(cells, { separator: ';', isSafe: true })).toBe(
    "'=1+1;'+SUM(A1);-2.5;+49;'-x;'@a;a=b;'\t=1;\r\n",
  );
  expect(csvLine([''], { separator: ',' })).toBe('""\r\n');
});

const GERMAN = { encoding: 'windows-1252', isMarked: false, csv: { separator: ';', lineEnd: '\n' } };
const UTF_16 = { encoding: 'utf-16le', isMarked: true, csv: { separator: '\t', lineEnd: '\r\n' } };

test.each([
  [
    'in the format of its source',
    GERMAN,
    {},
    false,
    { separator: ';', encoding: 'windows-1252', isMarked: false },
  ],
  [
    'in the format of its source, with its byte order mark',
    UTF_16,
    {},
    false,
    { separator: '\t', encoding: 'utf-16le', isMarked: true },
  ],
  ['for Excel', GERMAN, { csvFor: 'excel' }, false, { separator: ';', encoding: 'utf-8', isMarked: true }],
  [
    'for Excel, from a source in UTF-16',
    UTF_16,
    { csvFor: 'excel' },
    false,
    { separator: '\t', encoding: 'utf-8', isMarked: true },
  ],
  ['from a source that is not CSV', {}, {}, false, { separator: ',', encoding: 'utf-8', isMarked: false }],
  [
    'for Excel, from a source that is not CSV',
    {},
    { csvFor: 'excel' },
    false,
    { encoding: 'utf-8', isMarked: true },
  ],
  ['with tabs', GERMAN, {}, true, { separator: '\t', lineEnd: '\n', encoding: 'windows-1252' }],
  ['with safe cells', GERMAN, { csvSafe: true }, false, { isSafe: true, encoding: 'windows-1252' }],
] as const)('a CSV is written %s', (_, source, wishes, isTabbed, form) => {
  expect(csvOutput({ isTabbed }, source, wishes)).toMatchObject(form);
});

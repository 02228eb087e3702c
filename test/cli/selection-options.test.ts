import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { dateOption, filesetOption, idsOf, whereOption } from '../../lib/cli/selection-options.ts';
import { createFakeTerminal } from './fake-terminal.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const OTHER = '1c9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c22';
const RUN = '20261121T091500Z-3fa9c1';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'selection-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('--where', () => {
  test.each([
    ['size:GREATER_THAN:1000', { field: 'size', operator: 'GREATER_THAN', value: ['1000'] }],
    ['fileType:in:TEXT,IMAGE', { field: 'fileType', operator: 'IN', value: ['TEXT', 'IMAGE'] }],
    ['name:EQUALS:a,b', { field: 'name', operator: 'EQUALS', value: ['a,b'] }],
    ['fileType:!EQUALS:TEXT', { field: 'fileType', operator: 'EQUALS', value: ['TEXT'], not: true }],
    ['hash:IS_NULL', { field: 'hash', operator: 'IS_NULL', value: [] }],
    ['hash:!is_null', { field: 'hash', operator: 'IS_NULL', value: [], not: true }],
    ['path:LIKE:C:\\new\nline', { field: 'path', operator: 'LIKE', value: ['C:\\new\nline'] }],
    ['name:EQUALS:', { field: 'name', operator: 'EQUALS', value: [''] }],
  ])('%j is a filter', (text, filter) => {
    expect(whereOption(text)).toEqual([filter]);
  });

  test('that is given again adds a filter', () => {
    const first = whereOption('size:LESS_THAN:9');

    const both = whereOption('hash:IS_NULL', first);

    expect(both.map(({ field }) => field)).toEqual(['size', 'hash']);
  });

  test.each(['', 'size', 'size:EQUALS', ':EQUALS:1', 'size::1', 'size:=:1', 'hash:IS_NULL:1'])(
    '%j is refused, with what was expected and what came',
    (text) => {
      expect(() => whereOption(text)).toThrow(
        `Expected FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000, or FIELD:IS_NULL, got ${JSON.stringify(text)}.`,
      );
    },
  );
});

describe('--since and --until', () => {
  test.each([
    ['2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['2026-11-21T09:15Z', '2026-11-21T09:15:00.000Z'],
    ['2026-11-21T09:15:30.25+02:00', '2026-11-21T07:15:30.250Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(dateOption(text)).toBe(time);
  });

  test.each([
    '',
    'yesterday',
    '21.11.2026',
    '2026-13-01',
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '2026-11-21T09:15:00',
    '2026-11-21 (about)',
  ])('%j is refused, with what was expected and what came', (text) => {
    expect(() => dateOption(text)).toThrow(
      `Expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got ${JSON.stringify(text)}.`,
    );
  });
});

test('FileSets are told in lower case, each once and in order, however they are given', () => {
  const once = filesetOption(OTHER);

  const thrice = filesetOption(OTHER.toUpperCase(), filesetOption(FILESET, once));

  expect(thrice).toEqual([FILESET, OTHER]);
});

describe('ids', () => {
  test('are read from a file one a line, whatever ends its lines and whatever stands around them', async () => {
    const file = join(folder, 'ids.txt');
    await writeFile(file, '\ufeff40001\r\n\n  40030\t\n40059');
    const { terminal } = createFakeTerminal();

    const ids = await idsOf(undefined, file, terminal);

    expect(ids).toEqual(['40001', '40030', '40059']);
  });

  test('are read from standard input for -', async () => {
    const { terminal } = createFakeTerminal({}, 'a\nb\n');

    const ids = await idsOf(undefined, '-', terminal);

    expect(ids).toEqual(['a', 'b']);
  });

  test('are those of the options, or none were given', async () => {
    const { terminal } = createFakeTerminal();

    expect(await idsOf(['a'], undefined, terminal)).toEqual(['a']);
    expect(await idsOf(undefined, undefined, terminal)).toBeUndefined();
  });

  test('given both ways, or in a file without any, are refused', async () => {
    const { terminal } = createFakeTerminal({}, ' \n');

    await expect(idsOf(['a'], '-', terminal)).rejects.toThrow(
      'expected them as options or in a file, got both',
    );
    await expect(idsOf(undefined, '-', terminal)).rejects.toThrow(
      'expected at least one id, one a line, got none',
    );
  });
});

const badRun = (text: string) =>
  `Expected a run such as 20261121T091500Z-3fa9c1, got ${JSON.stringify(text)}.`;
const files = ['snapshot', 'files', '--fileset', FILESET];

test.each([
  [[...files, '--where', 'size>1'], 'Expected FIELD:OPERATOR:VALUE such as size:GREATER_THAN:1000'],
  [[...files, '--where', 'size:EQUALS'], 'got "size:EQUALS".'],
  [
    [...files, '--since', 'yesterday'],
    'Expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got "yesterday".',
  ],
  [[...files, '--until', '2026-02-30'], 'got "2026-02-30".'],
  [
    [...files, '--as', '../calculations'],
    '--as: expected 1 to 64 letters, digits, _ or -, got "../calculations"',
  ],
  [[...files, '--as', ''], '--as: expected 1 to 64 letters, digits, _ or -, got ""'],
  [[...files, '--immediate'], '--immediate: expected --directory with it, got none'],
  [['snapshot', 'files'], '--fileset: expected at least one id, got none'],
  [
    ['snapshot', 'files', '--fileset', 'nope'],
    'Expected a FileSet\'s id, a UUID (8-4-4-4-12 hex digits), got "nope".',
  ],
  [['snapshot', 'calculations', '--name', 'x'], '--name and --filter: expected --as NAME with them'],
  [['snapshot', 'calculations', '--filter', 'archived'], '--name and --filter: expected --as NAME with them'],
  [['snapshot', 'data-files'], '--id or --ids-from: expected ids, got none'],
  [['snapshot', 'data-files', '--id', '4x'], 'ids of data files: expected integers, got "4x"'],
  [
    ['snapshot', 'data-files', '--id', '4', '--ids-from', '-'],
    'expected them as options or in a file, got both',
  ],
  [['snapshot', 'data-files', '--ids-from', '-'], '-: expected at least one id, one a line, got none'],
  [['snapshot', 'cards', '--datasets-from', 'no/such'], 'no/such: expected a file that can be read'],
  [['snapshot', 'cards', '--dataset', '..'], 'datasetId: expected a name, not empty, "." or ".."'],
  [['snapshot', 'calculations', '--resume', 'last'], badRun('last')],
  [['snapshot', 'calculations', '--resume', '../../calculations'], badRun('../../calculations')],
  [['snapshot', 'calculations', '--resume', RUN], `--resume: run ${RUN} of calculations in `],
  [['snapshot', 'calculations', '--resume', RUN], ': expected a checkpoint, got none'],
  [['publish', 'calculations', 'last'], badRun('last')],
  [
    ['publish', 'kalkulations', RUN],
    'Expected calculations, files, cards, data-files, or one of them with .NAME',
  ],
])('%j is wrong usage: it says what was expected and what came, and exits 2', async (argv, expected) => {
  const environment = {
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 'a-token',
    SYNC_STORE: folder,
  };
  const { terminal, out, err } = createFakeTerminal(environment);

  const code = await runCommandLine(argv, terminal);

  expect(err()).toContain(expected);
  expect(err()).not.toContain('to go on');
  expect(code).toBe(2);
  expect(out()).toBe('');
});

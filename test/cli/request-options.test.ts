import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { readLines } from '../../lib/cli/options/options.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { createFakeTerminal } from './fake-terminal.ts';

const FILESET = '0b9f8a52-7b1c-4a57-9d0e-6f0a5f4f2c11';
const RUN = '20261121T091500Z-3fa9c1';

const folder = folderOfEach();

describe('ids', () => {
  test('are read from a file, one per line, with any line ending and any white space around them', async () => {
    const file = join(folder.path, 'ids.txt');
    await writeFile(file, '\ufeff40001\r\n\n  40030\t\n40059');
    const { terminal } = createFakeTerminal();

    const ids = await readLines(file, terminal);

    expect(ids).toEqual(['40001', '40030', '40059']);
  });

  test('are read from standard input for -', async () => {
    const { terminal } = createFakeTerminal({}, 'a\nb\n');

    const ids = await readLines('-', terminal);

    expect(ids).toEqual(['a', 'b']);
  });

  test('are required: an empty file is refused', async () => {
    const { terminal } = createFakeTerminal({}, ' \n');

    await expect(readLines('-', terminal)).rejects.toThrow(
      'expected at least one id, one per line, got none',
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
    '--since: expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got "yesterday"',
  ],
  [
    [...files, '--until', '2026-02-30'],
    '--until: expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got "2026-02-30"',
  ],
  [
    [...files, '--since', '1', '--until', '2'],
    '--since: expected a date such as 2026-11-21 or 2026-11-21T09:15:00Z, got "1"\n--until: expected a date',
  ],
  [
    [...files, '--as', '../calculations'],
    '--as: expected 1 to 64 letters, digits, _ or -, got "../calculations"',
  ],
  [[...files, '--as', ''], '--as: expected 1 to 64 letters, digits, _ or -, got ""'],
  [[...files, '--immediate'], '--directory: expected a directory, since --immediate is given, got nothing'],
  [['snapshot', 'files'], '--fileset: expected a list of FileSet ids, got nothing'],
  [
    ['snapshot', 'files', '--fileset', 'nope'],
    '--fileset.0: expected a UUID (8-4-4-4-12 hex digits), got "nope"',
  ],
  [
    ['snapshot', 'calculations', '--name', 'x'],
    '--as: expected a place of its own, since --name or --filter narrow the snapshot, got nothing',
  ],
  [
    ['snapshot', 'calculations', '--filter', 'archived'],
    '--as: expected a place of its own, since --name or --filter narrow the snapshot, got nothing',
  ],
  [['snapshot', 'data-files'], '--id or --ids-from: expected a list of data-file ids, got nothing'],
  [['snapshot', 'data-files', '--id', '4x'], '--id or --ids-from.0: expected an integer'],
  [['snapshot', 'data-files', '--id', '4x'], ', got "4x"'],
  [
    ['snapshot', 'data-files', '--id', '4', '--ids-from', '-'],
    '--id or --ids-from: expected them as options or in a file, got both',
  ],
  [['snapshot', 'files', '--as', '../x', '--resume', RUN], '--as: expected 1 to 64 letters, digits, _ or -'],
  [['snapshot', 'data-files', '--ids-from', '-'], '-: expected at least one id, one per line, got none'],
  [['snapshot', 'cards', '--datasets-from', 'no/such'], 'no/such: expected a file that can be read'],
  [['snapshot', 'cards', '--dataset', '..'], 'datasetId: expected a name that is not empty, "." or ".."'],
  [['snapshot', 'calculations', '--resume', 'last'], '--resume last: expected a run of calculations in '],
  [['snapshot', 'calculations', '--resume', '../../calculations'], badRun('../../calculations')],
  [['snapshot', 'calculations', '--resume', RUN], `--resume: run ${RUN} of calculations in `],
  [['snapshot', 'calculations', '--resume', RUN], ': expected a checkpoint, got none'],
  [['publish', 'calculations', 'last'], badRun('last')],
  [
    ['publish', 'kalkulations', RUN],
    'Expected one of calculations, files, cards, data-files, or SOURCE.NAME, got',
  ],
])('%j is wrong usage: it says what was expected and what it got, and exits 2', async (argv, expected) => {
  const environment = {
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 'a-token',
    SYNC_STORE: folder.path,
  };
  const { terminal, out, err } = createFakeTerminal(environment);

  const code = await runCommandLine(argv, terminal);

  expect(err()).toContain(expected);
  expect(err()).not.toContain('to resume');
  expect(code).toBe(2);
  expect(out()).toBe('');
});

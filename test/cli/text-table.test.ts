import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { beginCommand, runCommand, settingsOf } from './run-command.ts';
import { ALL_CASES, faultOf, outcomeOf } from './text-table.ts';

const folder = folderOfEach();
const at = (name: string) => join(folder.path, name);

// Each pair of an encoding with a defect, and each defect with a line end and a separator, is among them.
const SAMPLE = ALL_CASES.filter((_, index) => index % 13 === 0);

test('a sample of the table: each cell is right, or the file is refused by file, line and remedy', async () => {
  const faults = [];
  for (const one of SAMPLE) faults.push(faultOf(one, await outcomeOf(one, folder.path)));

  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  expect(SAMPLE.length).toBeGreaterThan(60);
});

const start = () =>
  startPlatform({ calculations: 0, datasets: 0, cards: 0, fileSets: 0, dataFiles: 0, latencyMs: 0 });

/** A word that Windows and the Mac both make sense of. */
const DOUBTFUL = iconv.encode('id;review\r\n1;NIÑO\r\n', 'windows-1252');

test('a file whose encoding is in doubt is not paid for: its rows are shown, with the remedy', async () => {
  await using sandbox = await start();
  await writeFile(at('reviews.csv'), DOUBTFUL);

  const { code, err } = await runCommand(
    ['score', at('reviews.csv'), '--text', 'review'],
    settingsOf(sandbox, at('store')),
  );

  expect(code).toBe(2);
  expect(err).toMatch(/reviews\.csv: line 2: expected a text in UTF-8, .* may be windows-1252 or /);
  expect(err).toContain('--encoding windows-1252; nothing was sent');
  expect(err).toContain('  as windows-1252:\n    line 2: 1;NIÑO\n');
  expect(err).toContain('  as macintosh:\n    line 2: 1;NI—O');
});

test('at a terminal the encoding is confirmed, and the output has the form of the file', async () => {
  await using sandbox = await start();
  await writeFile(at('reviews.csv'), DOUBTFUL);
  const input = new PassThrough();
  const output = new PassThrough();
  const argv = ['score', at('reviews.csv'), '--text', 'review', '--output', at('scored.csv')];
  const dialog = { input, output };
  const { ended } = beginCommand(
    argv,
    { ...settingsOf(sandbox, at('store')), LOG_LEVEL: 'silent' },
    { dialog },
  );
  output.once('data', () => input.write('\n'));

  const { code } = await ended;

  expect(code).toBe(0);
  expect((await readFile(at('scored.csv'))).toString('latin1')).toMatch(
    /^id;review;sentiment;model;error\r\n1;NI\u00d1O;\w+;.*;\r\n$/,
  );
});

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { beginCommand, runCommand, settingsOf } from './run-command.ts';
import { faultOf, readersOfRows, readersOfTexts } from './text-readers.ts';
import { ALL_CASES, WHOLE_CASES } from './text-table.ts';

const folder = folderOfEach();
const at = (name: string) => join(folder.path, name);

const start = () =>
  startPlatform({ calculations: 0, datasets: 4, cards: 4, fileSets: 0, dataFiles: 4, latencyMs: 0 });

/* Some cases of each encoding, defect, line end and separator; all are in `text-table.process.test.ts`. */
test.each([
  ...Object.entries(readersOfRows).map(([name, reader]) => [name, reader, ALL_CASES, 67] as const),
  ...Object.entries(readersOfTexts).map(([name, reader]) => [name, reader, WHOLE_CASES, 7] as const),
])(
  'for a sample of files, %s reads each cell correctly, or refuses the file with its name, the line and a remedy',
  async (_, reader, cases, nth) => {
    await using sandbox = await start();
    const faults = [];
    for (const one of cases.filter((_, at) => at % nth === 0))
      faults.push(await faultOf(reader, one, { folder: folder.path, sandbox }));

    expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
    expect(faults.length).toBeGreaterThan(8);
  },
);

/** Bytes that are plausible text both in the encoding of Windows and in that of the Mac. */
const DOUBTFUL = iconv.encode('id;review\r\n1;NIÑO\r\n', 'windows-1252');

test('a file whose encoding is in doubt is not paid for; its rows are shown, with the remedy', async () => {
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

test('at a terminal the user confirms the encoding, and the output has the format of the file', async () => {
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

test.each([
  ['score', ['--text', 'text', '--dry-run']],
  ['score', ['--text', 'text', '--batch', 'halves']],
  ['run --from-csv', ['--template', 'job.json', '--dry-run']],
  ['submit --from-csv', ['--template', 'job.json', '--dry-run']],
  ['formula apply', ['--name', 'may', '--dry-run', '--no-undo-for', '1', '2']],
])(
  '%s sends nothing of a file with texts that are split across lines, unless an option says that each line is a row',
  async (command, flags) => {
    await using sandbox = await start();
    const job = { type: 'run-function', packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403' };
    const call = { packageVersion: '1.0.0', functionName: 'add', inputVariables: { text: '{{text}}' } };
    await writeFile(at('job.json'), JSON.stringify({ ...job, ...call }));
    await writeFile(at('a.csv'), 'id,text,expression\n1,first half\nsecond half,2\n2,whole,3\n');
    const argv = [...command.split(' '), at('a.csv'), ...flags.map((flag) => flag.replace('job', at('job')))];

    const refused = await runCommand(argv, settingsOf(sandbox, at('store')));
    const requests = sandbox.counts().requests;
    const taken = await runCommand([...argv, '--whole-rows'], settingsOf(sandbox, at('store')));

    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining('a.csv: line 2: rows: expected quotes'),
    });
    expect(refused.err).toContain('\n  line 3: second half,2');
    expect(requests).toBe(0);
    expect(taken.err).not.toContain('expected quotes');
  },
);

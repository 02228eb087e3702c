import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfEach } from '../folder-of-each.ts';
import { runProgram } from '../run-program.ts';

/* The whole tour, as `npm start` runs it. */

const folder = folderOfEach();

test('the tour prints its nine steps in order, and nothing unexpected', async () => {
  const { code, out, err } = await runProgram([process.execPath, resolve('lib/cli/tour/start.ts')], {
    folder: folder.path,
    environment: process.env,
  });

  expect(code).toBe(0);
  expect(out.match(/^\d\/\d /gm)).toEqual([
    '1/9 ',
    '2/9 ',
    '3/9 ',
    '4/9 ',
    '5/9 ',
    '6/9 ',
    '7/9 ',
    '8/9 ',
    '9/9 ',
  ]);
  // Each snapshot prints the number of copied records.
  const [copies = ''] = out.split('2/9');
  expect(copies.match(/^\$ platform-sync snapshot .*\n\S+: [\d,]+ records in /gm)).toHaveLength(4);
  expect(out).toMatch(/^calculations +\S+ +\S+ +\S+ +20,000 .* proved$/m);
  expect(out).toMatch(/Killed \(kill -9\) with \d+,\d+ records stored\./);
  expect(out).toContain('refused as: shrunk');
  expect(out).toMatch(/\d throttled$/m);
  expect(out).toMatch(/^4 .*wonderful! .* positive$/m);
  // A function was running when the process was killed, so it may have been executed or not.
  expect(out.match(/^(sum|tour)-\S+ +\S+ +(done|unknown) /gm)).toHaveLength(12);
  expect(out).toMatch(/^sum-\d +run-function +unknown +1 .* answer-lost: /m);
  expect(out).toMatch(/^The platform ran [78] functions, set 1 formula and scored 1 text: nothing twice\.$/m);
  expect(out).toMatch(/^sum-\d: settled as (done|failed)$/m);
  expect(out).toMatch(/report\.html: [\d,]+ KB/);
  expect(out).toContain(`The report:      file://${folder.path}/platform-sync-data/tour/report.html`);
  expect(out).toContain('Try this next');
  // There are no machine-readable lines, and nothing that the story does not explain.
  expect(`${out}${err}`).not.toMatch(/_aws|"level"|warning:|and \d+ more \((?!--limit\))/);
  // There are only lines that the commands print.
  expect(err).not.toContain('\n\n');
}, 240_000);

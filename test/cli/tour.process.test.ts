import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../package/run-program.ts';

/* The whole tour, as `npm start` runs it. */

test('the tour tells its story, and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tour-'));

  const { code, out, err } = await runProgram([process.execPath, resolve('lib/cli/start.ts')], {
    folder,
    environment: process.env,
  });
  await rm(folder, { recursive: true });

  expect(code).toBe(0);
  expect(out.match(/^\d\/\d /gm)).toEqual(['1/7 ', '2/7 ', '3/7 ', '4/7 ', '5/7 ', '6/7 ', '7/7 ']);
  expect(out).toMatch(/^calculations +\S+ +\S+ +\S+ +20,000 .* proved$/m);
  expect(out).toMatch(/Killed \(kill -9\) with \d+,\d+ records stored\./);
  expect(out).toContain('refused as: shrunk');
  expect(out).toMatch(/\d throttled$/m);
  expect(out).toMatch(/^4 .*wonderful! .* POSITIVE$/m);
  expect(out.match(/ DONE /g)).toHaveLength(5);
  expect(out).toContain('Try this next');
  // Lines for machines, and what the story does not mention.
  expect(`${out}${err}`).not.toMatch(/_aws|"level"|warning:|and \d+ more \(/);
  // Of the commands, only what is said on a screen.
  expect(err).not.toContain('\n\n');
}, 240_000);

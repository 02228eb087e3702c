import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../compile-cache.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { scaled, scaledTimeout } from '../scale.ts';

const folder = folderOfEach();

const ROWS = scaled(300_000, 1_000_000);
const MAX_MB = 250;
/** Maximum memory for the rows, in addition to what the command needs for a few rows. */
const MAX_OF_ROWS_MB = scaled(35, 110);

test(`checking ${ROWS} rows takes less than ${MAX_MB} MB, and little for each row`, {
  timeout: scaledTimeout(600_000),
}, async () => {
  const few = await peakMbOf(1_000);
  const many = await peakMbOf(ROWS);

  expect(many).toBeLessThan(MAX_MB);
  expect(many - few).toBeLessThan(MAX_OF_ROWS_MB);
});

async function peakMbOf(count: number): Promise<number> {
  const [csv, json] = [join(folder.path, 'rows.csv'), join(folder.path, 'job.json')];
  const rows = Array.from({ length: count }, (_, n) => `row ${n},${n},a note on it\n`);
  await writeFile(csv, `name,n,note\n${rows.join('')}`);
  const job = {
    type: 'run-function',
    packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
    packageVersion: '1',
  };
  const whole = { ...job, functionName: 'add', inputVariables: { first: '{{n:number}}', name: '{{name}}' } };
  await writeFile(json, JSON.stringify(whole));
  const argv = ['lib/cli/bin.js', 'run', '--from-csv', csv, '--template', json, '--dry-run', '--json'];
  const child = spawn(process.execPath, ['--import', './test/own-peak-at-exit.ts', ...argv], {
    env: { ...bareEnvironment, SYNC_STORE: folder.path },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const ended = once(child, 'exit');
  const [out, peakMb] = await Promise.all(
    [child.stdout, child.stdio[3]].map((pipe) => text(pipe as Readable)),
  );
  expect(await ended).toEqual([0, null]);
  expect(JSON.parse(out ?? '')).toMatchObject({ rows: count });
  return Number(peakMb);
}

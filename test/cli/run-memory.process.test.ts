import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../compile-cache.ts';
import { isWhole, scaled, scaledTimeout } from '../scale.ts';

const ROWS = scaled(200_000, 1_000_000);
/** Of a million rows; without what these need for each. */
const MOST_MB = isWhole ? 250 : 150;

test(`the check of ${ROWS} rows takes less than ${MOST_MB} MB`, {
  timeout: scaledTimeout(600_000),
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'run-memory-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true }));
  const [csv, json] = [join(folder, 'rows.csv'), join(folder, 'job.json')];
  const rows = Array.from({ length: ROWS }, (_, n) => `row ${n},${n},a note on it\n`);
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
    env: { ...bareEnvironment, SYNC_STORE: folder },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const ended = once(child, 'exit');
  const [out, peakMb] = await Promise.all(
    [child.stdout, child.stdio[3]].map((pipe) => text(pipe as Readable)),
  );

  expect(await ended).toEqual([0, null]);
  expect(JSON.parse(out ?? '')).toMatchObject({ rows: ROWS });
  expect(Number(peakMb)).toBeLessThan(MOST_MB);
  expect(Number(peakMb)).toBeGreaterThan(0);
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { bareEnvironment } from '../compile-cache.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { scaled, scaledTimeout } from '../scale.ts';
import { settingsOf } from './run-command.ts';

const ROWS = scaled(300, 10_000);
const KILLS = scaled(3, 10);
const CONCURRENCY = 10;

const template = {
  type: 'run-function',
  packageId: codePackages[0]?.id,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
  inputVariables: { first: '{{n:number}}', second: 1 },
};

const folder = folderOfEach();

type Row = { readonly n: string; readonly status: string; readonly response?: { readonly result: number } };

test(`if run is killed ${KILLS} times, each of its ${ROWS} rows has one outcome, and none is sent twice`, {
  timeout: scaledTimeout(1_200_000),
}, async () => {
  await using platform = await startPlatform({ calculations: 1, latencyMs: 5, rate: 10_000 });
  const at = (name: string) => join(folder.path, name);
  const numbers = Array.from({ length: ROWS }, (_, n) => n);
  await writeFile(at('rows.csv'), `n\n${numbers.join('\n')}\n`);
  await writeFile(at('job.json'), JSON.stringify(template));
  const started = () => {
    const files = ['--from-csv', at('rows.csv'), '--template', at('job.json'), '--output', at('out.ndjson')];
    const argv = ['lib/cli/bin.js', 'run', ...files, '--concurrency', String(CONCURRENCY), '--json'];
    const env = {
      ...bareEnvironment,
      ...settingsOf(platform, at('store')),
      PLATFORM_RATE: '2000',
      LOG_LEVEL: 'silent',
    };
    const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    return { child, ended: once(child, 'exit') };
  };
  const executions = () => platform.counts().executions;

  for (let kill = 0; kill < KILLS; kill += 1) {
    const { child, ended } = started();
    const enough = ((kill + 1) / (KILLS + 2)) * ROWS;
    while (executions().length < enough && child.exitCode === null) await delay(5);
    await delay((kill * 37) % 100);
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
  }
  const [code] = await started().ended;

  const rows: readonly Row[] = (await readFile(at('out.ndjson'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const times = new Map<number, number>();
  for (const { inputVariables } of executions()) {
    const { first } = inputVariables as { readonly first: number };
    times.set(first, (times.get(first) ?? 0) + 1);
  }
  const ended = Map.groupBy(rows, ({ status }) => status);
  console.log(
    `run: ${ROWS} rows, ${KILLS} kills: ${[...ended].map(([status, of]) => `${of.length} ${status}`)}`,
  );
  expect(rows.map(({ n }) => Number(n))).toEqual(numbers);
  expect(Math.max(...times.values())).toBe(1);
  for (const { n, response } of ended.get('done') ?? []) {
    expect(response?.result).toBe(Number(n) + 1);
    expect(times.get(Number(n))).toBe(1);
  }
  // A function that was in flight when the process was killed may have run: its outcome is unknown.
  expect([...ended.keys()].toSorted()).toEqual(ended.has('unknown') ? ['done', 'unknown'] : ['done']);
  expect(ended.get('unknown')?.length ?? 0).toBeLessThanOrEqual(KILLS * CONCURRENCY);
  expect(code).toBe(ended.has('unknown') ? 3 : 0);
});

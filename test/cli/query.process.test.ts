import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { compileCache } from '../compile-cache.ts';

let folder: string;
let store: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'query-process-'));
  store = await mkdtemp(join(tmpdir(), 'query-store-'));
});

afterEach(async () => {
  for (const each of [folder, store]) await rm(each, { recursive: true });
});

/** `query` in a process whose temporary files are in the folder. */
const query = (sql: string, ...flags: readonly string[]) =>
  spawn(process.execPath, ['lib/cli/bin.js', 'query', sql, ...flags], {
    env: { ...process.env, ...compileCache, TMPDIR: folder, SYNC_STORE: store },
  });

test('Ctrl-C stops a query, and leaves nothing behind', async () => {
  const child = query('SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 1');
  const said = text(child.stderr);
  const exited = once(child, 'exit');

  while ((await readdir(folder)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill('SIGINT');

  expect(await exited).toEqual([1, null]);
  expect(await said).toBe('interrupted: stopped as requested\n');
  expect(await readdir(folder)).toEqual([]);
});

test('a reader that wants no more, such as head, ends it without an error', async () => {
  const child = query('SELECT i, repeat(i::VARCHAR, 20) FROM range(300000) r(i)', '--csv');
  const said = text(child.stderr);
  const exited = once(child, 'exit');

  await once(child.stdout, 'data');
  child.stdout.destroy();

  expect(await exited).toEqual([0, null]);
  expect(await said).toBe('');
});

import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { compileCache } from '../compile-cache.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { spawnCommand } from './spawn-command.ts';

const folder = folderOfEach();
const store = folderOfEach();

/** Starts `query` in a process that keeps its temporary files in the folder. */
const query = (sql: string, ...flags: readonly string[]) =>
  spawnCommand(['query', sql, ...flags], { ...compileCache, TMPDIR: folder.path, SYNC_STORE: store.path });

test('Ctrl-C stops a query, and leaves nothing behind', async () => {
  const child = query('SELECT count(*) FROM range(1000000000000) r(i) WHERE hash(i) = 1');
  const stderr = text(child.stderr);
  const exited = once(child, 'exit');

  while ((await readdir(folder.path)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill('SIGINT');

  expect(await exited).toEqual([130, null]);
  expect(await stderr).toBe('interrupted: stopped as requested\n');
  expect(await readdir(folder.path)).toEqual([]);
});

test('a reader that stops reading, such as head, ends the output without an error', async () => {
  const child = query('SELECT i, repeat(i::VARCHAR, 20) FROM range(300000) r(i)', '--csv');
  const stderr = text(child.stderr);
  const exited = once(child, 'exit');

  await once(child.stdout, 'data');
  child.stdout.destroy();

  expect(await exited).toEqual([0, null]);
  expect(await stderr).toBe('');
});

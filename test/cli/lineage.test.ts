import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import type { Terminal } from '../../lib/cli/terminal/terminal.ts';
import type { Store } from '../../lib/store/store.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { publishStore } from '../model/publish-store.ts';
import { link } from '../model/stores.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { runCommand } from './run-command.ts';

const folder = folderOfEach();
let store: Store;

beforeAll(async () => {
  const calculations = [
    { id: 7, name: 'Revenue\u009b\n', owner: 5, links: [link('DATA_SOURCE', 'd-1')] },
    { id: 8, links: [] },
  ];
  store = await publishStore({ calculations }, 'lines');
});

const lineage = (argv: readonly string[], more: Partial<Terminal> = {}) =>
  runCommand(['lineage', ...argv], { SYNC_STORE: 'memory' }, '', { openStore: async () => store, ...more });

test('lineage prints one event a line, and says which runs they describe', async () => {
  const { code, out, err } = await lineage([]);

  expect(code).toBe(0);
  expect(out.split('\n').map((line) => JSON.parse(line).job.name)).toEqual([
    'calculation/7',
    'calculation/8',
  ]);
  expect(err).toBe('from calculations (run 20261116T090000Z-aaaaaa)');
});

test('lineage prints to a terminal nothing that could move the cursor', async () => {
  const { out } = await lineage([], { width: 80 });

  expect(out).not.toContain('\u009b');
  expect(JSON.parse(out.split('\n')[0] ?? '').job.facets.documentation.description).toBe('Revenue\u009b\n');
});

test('lineage writes a file, compressed by its name, with the same lines', async () => {
  const plain = join(folder.path, 'lineage.json');
  const compressed = join(folder.path, 'lineage.ndjson.gz');

  const printed = await lineage(['--format', 'datahub']);
  const { out } = await lineage(['--format', 'datahub', '--output', plain]);
  await lineage(['--output', compressed]);

  expect(out).toBe(`${plain}: 8 lines from calculations (run 20261116T090000Z-aaaaaa)`);
  expect(await readFile(plain, 'utf8')).toBe(`${printed.out}\n`);
  expect(JSON.parse(printed.out)).toHaveLength(7);
  expect(gunzipSync(await readFile(compressed)).toString()).toBe(`${(await lineage([])).out}\n`);
});

test('lineage ends early if its reader is gone, and leaves no file when it is stopped', async () => {
  let lines = 0;
  const closed = await lineage([], { drained: async () => ++lines < 1 });
  const stop = new AbortController();
  stop.abort(new Error('stopped by SIGINT'));
  const stopped = await lineage(['--output', join(folder.path, 'none.ndjson')], { signal: stop.signal });

  expect(closed.out.split('\n')).toHaveLength(1);
  expect(stopped.code).toBe(130);
  await expect(readFile(join(folder.path, 'none.ndjson'))).rejects.toThrow('ENOENT');
});

test('lineage fails without a published run, and says to take a snapshot first', async () => {
  const { code, err } = await lineage([], { openStore: async () => createMemoryStore() });

  expect(code).toBe(1);
  expect(err).toContain('no calculations and no cards have been published in memory: first take a snapshot');
});

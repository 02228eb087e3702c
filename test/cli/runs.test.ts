import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addRuns } from '../../lib/cli/commands/runs.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import type { Store } from '../../lib/store/store.ts';
import { monday, publishLines, tuesday, wednesday } from '../snapshot/changes/publish-lines.ts';
import { createFakeTerminal } from './fake-terminal.ts';

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'runs-'));
  store = createDirectoryStore(folder);
});

afterEach(() => rm(folder, { recursive: true }));

async function runs(...argv: readonly string[]) {
  const { terminal, out, err } = createFakeTerminal({ SYNC_STORE: folder });
  const program = new Command('platform-sync');
  let code: number | undefined;
  addRuns(program, terminal, (finished) => {
    code = finished;
  });
  await program.parseAsync(['runs', ...argv], { from: 'user' });
  return { code, out: out(), err: err() };
}

const lines = ['{"id":1}', '{"id":2}'];

async function publishTwo() {
  await publishLines(store, { run: monday, lines });
  await publishLines(store, {
    run: tuesday,
    lines,
    manifest: {
      finishedAt: '2026-11-17T09:00:12.340Z',
      records: 20_000,
      changes: { against: monday.id, added: 3, removed: 1_200, changed: 0 },
      consistency: 'best-effort',
      forced: true,
      refused: ['unproved'],
    },
  });
}

test('published runs are listed as a table, newest first', async () => {
  await publishTwo();

  const { code, out } = await runs('calculations');

  expect(code).toBe(0);
  expect(out.split('\n')).toEqual([
    'SOURCE        RUN                      STARTED                   SECONDS  RECORDS  ADDED  REMOVED  CHANGED  CONSISTENCY',
    'calculations  20261117T090000Z-bbbbbb  2026-11-17T09:00:00.000Z  12.3     20,000   3      1,200    0        best-effort  forced over: unproved',
    'calculations  20261116T090000Z-aaaaaa  2026-11-16T09:00:00.000Z  0.0      2        -      -        -        proved',
  ]);
});

test('--json prints them as a list, of all sources if none is given', async () => {
  await publishTwo();
  await publishLines(store, { place: 'files', run: wednesday });

  const { out } = await runs('--json');

  expect(JSON.parse(out)).toMatchObject([
    {
      source: 'calculations',
      run: tuesday.id,
      durationMs: 12_340,
      records: 20_000,
      against: monday.id,
      added: 3,
      removed: 1_200,
      changed: 0,
      consistency: 'best-effort',
      forced: true,
    },
    { source: 'calculations', run: monday.id, added: null, removed: null, changed: null, forced: false },
    { source: 'files', run: wednesday.id },
  ]);
});

test('--limit lists the newest and says how many are left', async () => {
  await publishTwo();

  const { out, err } = await runs('calculations', '--limit', '1', '--json');

  expect(JSON.parse(out)).toMatchObject([{ run: tuesday.id }]);
  expect(err).toBe('1 earlier run not listed; use --limit to list more');
});

test('a run whose folder is there but which has not been published yet is left out', async () => {
  await publishLines(store, { run: tuesday });
  const latest = await store.get('calculations/latest.json');
  await publishLines(store, { run: wednesday });
  await store.put('calculations/latest.json', latest?.body ?? Buffer.alloc(0));

  const { out } = await runs('calculations', '--json');

  expect(JSON.parse(out)).toMatchObject([{ run: tuesday.id }]);
});

test('says if nothing has been published', async () => {
  const people = await runs();
  const machines = await runs('--json');

  expect(people).toEqual({ code: 0, out: `nothing has been published in ${folder}`, err: '' });
  expect(machines.out).toBe('[]');
});

test('a run whose manifest is missing or damaged is named, and the others are listed: exit 3', async () => {
  await publishTwo();
  await publishLines(store, { run: wednesday, lines });
  const old = 'calculations/dt=2026-11-16/run=20261116T090000Z-aaaaaa/_manifest.json';
  await store.put(old, Buffer.from('{'));

  const { code, out, err } = await runs();

  expect(code).toBe(3);
  expect(out).toContain(wednesday.id);
  expect(out).toContain(tuesday.id);
  expect(err).toBe(
    `calculations: ${old} is not what platform-sync writes there (1 bytes that are not JSON); no other run is affected`,
  );
});

test('if the newest run is missing, it is named with the way to publish again', async () => {
  await publishTwo();
  const newest = 'calculations/dt=2026-11-17/run=20261117T090000Z-bbbbbb/_manifest.json';
  await store.delete(newest);

  const { code, out, err } = await runs();

  expect(code).toBe(3);
  expect(out).toContain(monday.id);
  expect(err).toContain(
    `calculations: ${newest} in ${folder}: expected a manifest, got nothing; to publish a new`,
  );
  expect(err).toContain('platform-sync snapshot calculations … --force');
});

test('a damaged latest.json is named', async () => {
  await publishTwo();
  await store.put('calculations/latest.json', Buffer.from('{}'));

  const { code, out, err } = await runs();

  expect(code).toBe(3);
  expect(out).toBe('');
  expect(err).toContain('calculations: calculations/latest.json is not what platform-sync writes there');
});

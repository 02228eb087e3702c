import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { openerFor, writeReport } from '../../../lib/cli/commands/report.ts';
import type { Terminal } from '../../../lib/cli/terminal/terminal.ts';
import { findModel } from '../../../lib/model/open-model.ts';
import { openBudget } from '../../../lib/pace/stored-budget.ts';
import { folderOfEach } from '../../folder-of-each.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { createFakeTerminal } from '../fake-terminal.ts';
import { runCommand } from '../run-command.ts';

const folder = folderOfEach();
let file: string;
beforeEach(async () => {
  file = join(folder.path, 'report.html');
});

const report = (store: MemoryStore, argv: readonly string[], more: Partial<Terminal> = {}) =>
  runCommand(['report', ...argv], { SYNC_STORE: './unused' }, '', { openStore: async () => store, ...more });

async function published() {
  const store = createMemoryStore();
  await publishLines(store, { run: monday, lines: ['{"id":1,"name":"Revenue"}'] });
  return store;
}

test('report writes the page to a file, and a line says what it shows', async () => {
  const { code, out, err } = await report(await published(), ['--output', file]);

  expect(code).toBe(0);
  expect(await readFile(file, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>/);
  expect(out).toMatch(`calculations: 1 record of run ${monday.id}, started `);
  expect(err).toBe('');
  expect(await readdir(folder.path)).toEqual(['report.html']);
});

test('--json says what was written; if something could not be read, it is named, and the exit code is 3', async () => {
  const store = await published();
  await store.put('files/latest.json', Buffer.from('{'));

  const { code, out, err } = await report(store, ['--output', file, '--json']);

  expect(code).toBe(3);
  expect(JSON.parse(out)).toEqual({
    output: file,
    bytes: (await readFile(file)).byteLength,
    opened: false,
    runs: [{ source: 'calculations', run: monday.id, startedAt: monday.startedAt, records: 1 }],
    narrowed: [],
    faults: [expect.stringContaining('files/latest.json is not what platform-sync writes there')],
    calculations: expect.objectContaining({ total: 1, unused: { count: 1, ids: ['1'] } }),
    cards: null,
    datasets: [],
    datasets_total: 0,
    owners: [],
    owners_total: 0,
    files: null,
    data_files: null,
    jobs: [],
    as_of: (await findModel(store)).model?.asOf,
    as_of_runs: { calculations: monday.id },
    model_history: [
      { day: '2026-11-16', broken_links: 0, invalid: 0, missing_target: 0, affected: 0, unused: 1 },
    ],
  });
  expect(err).toContain('files/latest.json');
});

test('without a published run report writes no page, and says what to do', async () => {
  const { code, err } = await report(createMemoryStore(), ['--output', file]);

  expect(code).toBe(1);
  expect(err).toContain('nothing has been published in memory: first take a snapshot');
  expect(await readdir(folder.path)).toEqual([]);
});

test('standard output has the page and nothing else', async () => {
  const { code, out } = await report(await published(), ['--output', '-']);

  expect(code).toBe(0);
  expect(out).toMatch(/^<!doctype html>[\s\S]*<\/html>$/);
});

test('a stopped report leaves no new file, and an existing file unchanged', async () => {
  const store = await published();
  await report(store, ['--output', file]);
  const before = await readFile(file);

  for (const name of [file, join(folder.path, 'other.html')]) {
    const { code } = await report(store, ['--output', name], { signal: AbortSignal.abort() });
    expect(code).toBe(130);
  }

  expect(await readdir(folder.path)).toEqual(['report.html']);
  expect(await readFile(file)).toEqual(before);
});

test('--open opens the page; if that fails, the message says so', async () => {
  const [opened, reason]: [string[], string] = [[], 'no screen'];
  const fake = createFakeTerminal({ SYNC_STORE: './unused' });
  const store = await published();
  const terminal = { ...fake.terminal, openStore: async () => store };
  const flags = { output: file, open: true } as const;

  const first = await writeReport(flags, terminal, async (name) => {
    opened.push(name);
    return { kind: 'opened' };
  });
  const second = await writeReport(flags, terminal, async () => ({ kind: 'not-opened', reason }));

  expect([first, second]).toMatchObject([{ ended: 'done' }, { ended: 'done' }]);
  expect(opened).toEqual([file]);
  expect(fake.err()).toBe(`platform-sync: ${file} was written, but could not be opened: no screen`);
});

test('report names the operations that are throttled separately, according to the table', async () => {
  const table = `sqlite:${join(folder.path, 'jobs.db')}`;
  const item = await openBudget({ table, host: 'acme.example.com', environment: {} });
  const operations = { analyzeSentiment: { aloneSinceMs: Date.UTC(2026, 10, 29, 8), refusedAtMs: 0 } };
  await item.change('set', (budget) => ({ ...budget, operations }));
  const PLATFORM_BASE_URL = 'https://acme.example.com';
  const settings = { SYNC_STORE: './unused', SYNC_TABLE: table, PLATFORM_BASE_URL };
  const fake = createFakeTerminal(settings);
  const store = await published();

  await writeReport({ output: file }, { ...fake.terminal, openStore: async () => store });

  const page = (await readFile(file)).toString();
  const [, packed = ''] = /id="facts">([^<]*)</.exec(page) ?? [];
  const facts = JSON.parse(inflateRawSync(Buffer.from(packed, 'base64')).toString());
  expect(facts.throttled).toEqual([
    'analyzeSentiment: throttled on its own since 2026-11-29T08:00:00.000Z: 2 a second',
  ]);
});

test('if the table cannot be read, report says that throttling is unknown, and writes the page', async () => {
  const PLATFORM_BASE_URL = 'https://acme.example.com';
  const settings = { SYNC_STORE: './unused', SYNC_TABLE: `sqlite:${folder.path}`, PLATFORM_BASE_URL };
  const fake = createFakeTerminal(settings);
  const store = await published();

  const ended = await writeReport({ output: file }, { ...fake.terminal, openStore: async () => store });

  expect(ended).toMatchObject({ ended: 'done' });
  expect(fake.err()).toMatch(/^platform-sync: it is unknown whether calls are throttled: .+/);
});

test('the program that opens the page depends on the system, and a machine without a display has none', () => {
  expect(openerFor('darwin', '/a b.html', {})).toEqual({ command: 'open', args: ['/a b.html'] });
  expect(openerFor('win32', 'C:\\a&b.html', {})).toMatchObject({ command: 'rundll32' });
  expect(openerFor('linux', '/a.html', { WAYLAND_DISPLAY: 'w' })).toMatchObject({ command: 'xdg-open' });
  expect(openerFor('linux', '/a.html', { DISPLAY: '' })).toEqual({
    reason: expect.stringContaining('no screen'),
  });
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../../lib/cli/command-line.ts';
import { writeReport } from '../../../lib/cli/commands/report.ts';
import { openerFor } from '../../../lib/cli/report/open-file.ts';
import { findModel } from '../../../lib/model/index.ts';
import { folderOfEach } from '../../folder-of-each.ts';
import { monday, publishLines } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { createFakeTerminal } from '../fake-terminal.ts';

const folder = folderOfEach();
let file: string;
beforeEach(async () => {
  file = join(folder.path, 'report.html');
});

function terminalOn(store: MemoryStore) {
  const fake = createFakeTerminal({ SYNC_STORE: './unused' });
  return { ...fake, terminal: { ...fake.terminal, openStore: async () => store } };
}

async function published() {
  const store = createMemoryStore();
  await publishLines(store, { run: monday, lines: ['{"id":1,"name":"Revenue"}'] });
  return store;
}

test('the page is written to a file, with a word on what it shows', async () => {
  const { terminal, out, err } = terminalOn(await published());

  expect(await runCommandLine(['report', '--output', file], terminal)).toBe(0);

  expect(await readFile(file, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>/);
  expect(out()).toMatch(`calculations: 1 record of run ${monday.id}, begun `);
  expect(err()).toBe('');
  expect(await readdir(folder.path)).toEqual(['report.html']);
});

test('machines learn what was written, and what could not be read, which is exit code 3', async () => {
  const store = await published();
  await store.put('files/latest.json', Buffer.from('{'));
  const { terminal, out, err } = terminalOn(store);

  expect(await runCommandLine(['report', '--output', file, '--json'], terminal)).toBe(3);

  expect(JSON.parse(out())).toEqual({
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
  });
  expect(err()).toContain('files/latest.json');
});

test('without a published run there is no page, but what to do', async () => {
  const { terminal, err } = terminalOn(createMemoryStore());

  expect(await runCommandLine(['report', '--output', file], terminal)).toBe(1);

  expect(err()).toContain('nothing has been published in memory: first take a snapshot');
  expect(await readdir(folder.path)).toEqual([]);
});

test('standard output has the page and nothing else', async () => {
  const { terminal, out } = terminalOn(await published());

  expect(await runCommandLine(['report', '--output', '-'], terminal)).toBe(0);

  expect(out()).toMatch(/^<!doctype html>[\s\S]*<\/html>$/);
});

test('a stop leaves no file, and the one that was there as it was', async () => {
  const { terminal, interrupt } = terminalOn(await published());
  await runCommandLine(['report', '--output', file], terminal);
  const before = await readFile(file);

  interrupt();

  expect(await runCommandLine(['report', '--output', file], terminal)).toBe(1);
  expect(await runCommandLine(['report', '--output', join(folder.path, 'other.html')], terminal)).toBe(1);
  expect(await readdir(folder.path)).toEqual(['report.html']);
  expect(await readFile(file)).toEqual(before);
});

test('the page is opened if that is asked, and a machine that cannot is said so', async () => {
  const [opened, reason]: [string[], string] = [[], 'no screen'];
  const { terminal, err } = terminalOn(await published());
  const flags = { output: file, open: true } as const;

  const first = await writeReport(flags, terminal, async (name) => {
    opened.push(name);
    return { kind: 'opened' };
  });
  const second = await writeReport(flags, terminal, async () => ({ kind: 'not-opened', reason }));

  expect([first, second]).toEqual([0, 0]);
  expect(opened).toEqual([file]);
  expect(err()).toBe(`platform-sync: ${file} is written, but not opened: no screen`);
});

test('each system has its opener, and a machine without a screen none', () => {
  expect(openerFor('darwin', '/a b.html', {})).toEqual({ command: 'open', args: ['/a b.html'] });
  expect(openerFor('win32', 'C:\\a&b.html', {})).toMatchObject({ command: 'rundll32' });
  expect(openerFor('linux', '/a.html', { WAYLAND_DISPLAY: 'w' })).toMatchObject({ command: 'xdg-open' });
  expect(openerFor('linux', '/a.html', { DISPLAY: '' })).toEqual({
    reason: expect.stringContaining('no screen'),
  });
});

test('a place where no file can be written is refused before anything is read', async () => {
  const { terminal, err } = terminalOn(await published());

  expect(await runCommandLine(['report', '--output', folder.path], terminal)).toBe(2);
  expect(await runCommandLine(['report', '--output', join(folder.path, 'no', 'x.html')], terminal)).toBe(2);
  expect(await runCommandLine(['report', '--output', '-', '--json'], terminal)).toBe(2);

  expect(err()).toContain('expected a file in a folder that can be written, got ENOENT');
});

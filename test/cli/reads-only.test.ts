import { hash } from 'node:crypto';
import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { folderOfAll } from '../folder-of-each.ts';
import { runCommand } from './run-command.ts';
import { adds, lines, startJobs } from './start-jobs.ts';

const DAY_MS = 86_400_000;
const FORMULA = '40 + 2';
const root = folderOfAll();
let jobs: Awaited<ReturnType<typeof startJobs>>;
let store: string;
let id: string;
const file = (name: string) => join(root, name);

/** A store with runs, ended jobs, a batch and a formula, copied with the write-ahead log of its table, as after a kill. */
beforeAll(async () => {
  jobs = await startJobs({ isInAws: false });
  id = String(JSON.parse(jobs.sandbox.calculations().next().value ?? '{}').id);
  await writeFile(file('texts.csv'), 'id,text\n1,a wonderful thing\n2,an awful one\n');
  await writeFile(file('formula.txt'), FORMULA);
  await writeFile(file('changes.csv'), `id,expression\n${id},${FORMULA}\n`);
  await writeFile(file('jobs.ndjson'), lines([adds('later')]));
  const begun = [
    ['snapshot', 'calculations'],
    ['snapshot', 'calculations'],
    ['score', file('texts.csv'), '--text', 'text', '--batch', 'may'],
    ['formula', 'set', id, file('formula.txt'), '--force'],
    ['report', '--output', file('report.html')],
    ['query', 'SELECT count(*) FROM calculations', '--csv'],
  ];
  for (const argv of begun) expect([argv, (await jobs.run(argv)).code]).toEqual([argv, 0]);
  expect((await jobs.workOff(adds('sum'))).code).toBe(0);
  store = file('store');
  await cp(jobs.folder, store, { recursive: true, preserveTimestamps: true });
}, 60_000);

afterAll(() => jobs[Symbol.asyncDispose]());
afterEach(() => vi.useRealTimers());

/** Mode, time and hash of every file of the store, except SQLite's `-shm` file, which is only an index of the log. */
async function filesOf(folder: string) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const stored = paths.filter((path) => !path.endsWith('-shm')).toSorted();
  return Promise.all(
    stored.map(async (path) => {
      const [{ mode, mtimeMs }, body] = await Promise.all([stat(path), readFile(path)]);
      return { path, mode, mtimeMs, sha256: hash('sha256', body) };
    }),
  );
}

const readers: readonly (readonly string[])[] = [
  ['jobs'],
  ['jobs', 'sum'],
  ['jobs', '--status', 'DONE', '--json'],
  ['jobs', 'results', '--output', 'OUT/results.csv'],
  ['batches'],
  ['batches', 'may'],
  ['runs', '--all'],
  ['diff', 'calculations'],
  ['where-used', 'ID'],
  ['query', 'SELECT count(*) FROM jobs', '--csv'],
  ['query', '--saved'],
  ['report', '--output', '-'],
  ['report', '--json'],
  ['digest', '--json'],
  ['lineage'],
  ['formula', 'log', 'ID'],
  ['formula', 'check', 'OUT/formula.txt'],
  ['formula', 'apply', 'OUT/changes.csv', '--name', 'set', '--dry-run'],
  ['pace'],
  ['prune', '--keep', '1', '--dry-run'],
  ['prune', '--jobs', '--older-than', '1d', '--dry-run'],
  ['forget', '--batch', 'may', '--dry-run'],
  ['score', 'OUT/texts.csv', '--text', 'text', '--dry-run'],
  ['run', 'OUT/jobs.ndjson', '--dry-run'],
  ['submit', 'OUT/jobs.ndjson', '--dry-run'],
];

test.each(readers.map((argv) => [argv]))(
  '%j changes neither the content nor the time of any file, whatever the clock says',
  {
    timeout: 60_000,
  },
  async (argv) => {
    const before = await filesOf(store);

    for (const days of [31, 91, 800]) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + days * DAY_MS });
      const words = argv.map((word) => word.replace('OUT', root).replace(/^ID$/, id));
      const ended = await runCommand(words, { ...jobs.settings, SYNC_STORE: store });
      sqliteFile(join(store, '.store', 'jobs.db')).close();
      vi.useRealTimers();

      expect({ code: ended.code, files: await filesOf(store) }).toEqual({ code: 0, files: before });
    }
  },
);

test('with a clock 800 days ahead the same jobs do not run again, and the same texts are not paid again', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 800 * DAY_MS });
  const requests = jobs.sandbox.counts().requests;
  const [again, scored] = [
    await jobs.workOff(adds('sum')),
    await jobs.run(['score', file('texts.csv'), '--text', 'text', '--batch', 'june']),
  ];
  vi.useRealTimers();

  expect([again.code, scored.code]).toEqual([0, 0]);
  expect(jobs.sandbox.counts().requests).toBe(requests);
});

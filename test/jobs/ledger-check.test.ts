import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { runCommand, settingsOf } from '../cli/run-command.ts';
import { adds, lines } from '../cli/start-jobs.ts';
import { folderOfEach } from '../folder-of-each.ts';

const folder = folderOfEach();
let sandbox: Sandbox;
const storePath = () => join(folder.path, 'store');
const file = () => join(storePath(), '.store', 'jobs.db');

beforeEach(async () => {
  sandbox = await startPlatform({ calculations: 1, datasets: 1, cards: 0, fileSets: 0, dataFiles: 3 });
  await mkdir(storePath());
});
afterEach(() => sandbox.close());

const ran = () => sandbox.counts().requests;

/** Runs a command as a process of its own would, which closes the ledger's file at its end. */
async function command(argv: readonly string[], jobs: readonly object[] = []) {
  const ended = await runCommand(
    argv,
    { ...settingsOf(sandbox, storePath()), LOG_LEVEL: 'silent' },
    lines(jobs),
  );
  sqliteFile(file()).close();
  return ended;
}

async function runJobs(ids: readonly string[], ...flags: readonly string[]) {
  const submitted = await command(
    ['submit', '-', ...flags],
    ids.map((id) => adds(id)),
  );
  return submitted.code === 0 ? command(['work', '--drain', ...flags]) : submitted;
}

const keepCopy = () => cp(file(), join(folder.path, 'copy.db'));
const restoreCopy = () => cp(join(folder.path, 'copy.db'), file());

test('nothing is sent with an older copy of the ledger, and the error names the first missing job', async () => {
  await runJobs(['a']);
  await keepCopy();
  await runJobs(['b', 'c']);
  await restoreCopy();
  const before = ran();

  const refused = await runJobs(['a', 'b', 'c']);
  const worked = await command(['work', '--drain']);

  expect([refused.code, worked.code]).toEqual([2, 2]);
  expect(refused.err).toMatch(
    /got one that lacks 2 of them, such as [bc]: it is an older copy, .*"A store that moved".*continue with this ledger, .*--new-ledger/,
  );
  expect(ran()).toBe(before);
});

test('--new-ledger imports the stored results, so that no job runs again, and is needed once', async () => {
  await runJobs(['a']);
  await keepCopy();
  await runJobs(['b', 'c']);
  await restoreCopy();
  const before = ran();

  const again = await runJobs(['a', 'b', 'c'], '--new-ledger');
  const sentByThen = ran();
  const later = await runJobs(['d']);
  const shown = await command(['jobs', 'b']);

  expect([again.code, later.code, sentByThen]).toEqual([0, 0, before]);
  expect(ran()).toBe(before + 1);
  expect(JSON.parse(shown.out)).toMatchObject({ id: 'b', status: 'done', response: { result: 42 } });
});

test('a ledger whose write-ahead log was deleted is recognized as an older copy', async () => {
  await runJobs(['a']);
  const settings = { ...settingsOf(sandbox, storePath()), LOG_LEVEL: 'silent' };
  await runCommand(['submit', '-'], settings, lines([adds('b')]));
  await runCommand(['work', '--drain'], settings);
  // Copies the file without its write-ahead log.
  await keepCopy();
  sqliteFile(file()).close();
  await restoreCopy();
  const before = ran();

  const refused = await runJobs(['b']);

  expect(refused.code).toBe(2);
  expect(refused.err).toContain('--new-ledger');
  expect(ran()).toBe(before);
});

test('a deleted ledger is rebuilt from the stored results', async () => {
  await runJobs(['a', 'b']);
  await rm(join(storePath(), '.store'), { recursive: true });
  const before = ran();

  const refused = await runJobs(['a', 'b']);
  const again = await runJobs(['a', 'b'], '--new-ledger');

  expect([refused.code, again.code]).toEqual([2, 0]);
  expect(ran()).toBe(before);
});

test('a copied store sends with the ledger copied with it, with the original ledger if SYNC_TABLE names it, or with a new one (--new-ledger)', async () => {
  await runJobs(['a', 'b']);
  const before = ran();
  const moved = { whole: join(folder.path, 'whole'), bare: join(folder.path, 'bare') };
  for (const to of Object.values(moved)) await cp(storePath(), to, { recursive: true });
  await rm(join(moved.bare, '.store'), { recursive: true });
  const jobsFile = join(folder.path, 'jobs.ndjson');
  await writeFile(jobsFile, lines([adds('a'), adds('b')]));
  const runIn = async (store: string, more: Readonly<Record<string, string>> = {}, ...flags: string[]) => {
    const environment = { ...settingsOf(sandbox, store), LOG_LEVEL: 'silent', ...more };
    const { code, err } = await runCommand(['run', jobsFile, ...flags], environment);
    for (const each of [file(), join(store, '.store', 'jobs.db')]) sqliteFile(each).close();
    return { code, err };
  };

  const whole = await runIn(moved.whole);
  const refused = await runIn(moved.bare);
  const byFile = await runIn(moved.bare, { SYNC_TABLE: `sqlite:${file()}` });
  const anew = await runIn(moved.bare, {}, '--new-ledger');

  expect([whole.code, refused.code, byFile.code, anew.code]).toEqual([0, 2, 0, 0]);
  expect(refused.err).toContain('docs/restore.md, "A store that moved"');
  expect(ran()).toBe(before);
});

test('a failed job that was reopened does not make the ledger count as an older copy', async () => {
  await command(['submit', '-'], [{ ...adds('f'), functionName: 'throwsError', packageVersion: '9.9.9' }]);
  await command(['work', '--drain']);
  await command(['redrive', 'f']);

  const { code } = await runJobs(['a']);

  expect(code).not.toBe(2);
});

/** Ways to lose data: each leaves a ledger file under the same name that knows less than the store. */
const losses = {
  'was deleted': {
    lose: () => rm(join(storePath(), '.store'), { recursive: true }),
    words: /got no file, or an empty file/,
  },
  'is an older copy': { lose: restoreCopy, words: /such as (may.chunk-00000|files):/ },
};

const textsFile = () => join(folder.path, 'texts.csv');
const score = (...flags: readonly string[]) =>
  command(['score', textsFile(), '--text', 'text', '--batch', 'may', ...flags]);

test.for(Object.entries(losses))(
  'texts that a batch paid for are not paid for again with a ledger that %s',
  async ([, { lose, words }]) => {
    await writeFile(textsFile(), 'text\ngood\nbad\n');
    await runJobs(['a']);
    await keepCopy();
    await score();
    await lose();
    const before = ran();

    const refused = await score();
    const submitted = await runJobs(['b']);
    const redriven = await command(['redrive']);
    const again = await score('--new-ledger', '--json');
    const [sent, later] = [ran() - before, await score()];

    expect([refused.code, submitted.code, redriven.code]).toEqual([2, 2, 2]);
    expect(refused.err).toMatch(words);
    expect([again.code, sent, later.code]).toEqual([0, 0, 0]);
    expect(JSON.parse(again.out)).toMatchObject({ scored: 2, failed: 0, calls: 0 });
  },
);

test('a batch without rows in the ledger, as if its worker had died early, is scored again without a call, since the ledger has its scores', async () => {
  await writeFile(textsFile(), 'text\ngood\nbad\n');
  await score();
  const db = new DatabaseSync(file());
  db.exec(`DELETE FROM rows WHERE pk LIKE 'batch#%'`);
  db.close();
  const before = ran();

  const again = await score();

  expect([again.code, ran()]).toEqual([0, before]);
});

test.for(Object.entries(losses))(
  'data files that were read are listed by a ledger that %s',
  async ([, { lose, words }]) => {
    const job = { version: 1, type: 'data-files', id: 'files', ids: sandbox.ids().dataFiles };
    await runJobs(['a']);
    await keepCopy();
    await command(['submit', '-'], [job]);
    await command(['work', '--drain']);
    await lose();
    const before = ran();

    const refused = await command(['submit', '-'], [job]);
    const again = await command(['submit', '-', '--new-ledger'], [job]);
    const worked = await command(['work', '--drain']);

    expect([refused.code, again.code, worked.code]).toEqual([2, 0, 0]);
    expect(refused.err).toMatch(words);
    expect(ran()).toBe(before);
  },
);

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { beginRun } from '../../lib/snapshot/run/begin-run.ts';
import type { SnapshotRequest } from '../../lib/snapshot/sources/request.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();

const sandbox = await startPlatform({ calculations: 5, datasets: 2, cards: 2, fileSets: 0, dataFiles: 3 });

afterAll(() => sandbox.close());

async function run(argv: readonly string[], input = '') {
  return runCommand(argv, settingsOf(sandbox, folder.path), input);
}

/** Begins a run and leaves it unfinished; returns its id. */
const begin = (nowMs: number, as?: string): Promise<string> =>
  beginOf({ source: 'data-files', ids: sandbox.ids().dataFiles.slice(0, 1), as }, nowMs);

async function beginOf(request: SnapshotRequest, nowMs: number): Promise<string> {
  const { checkpoint } = await beginRun(request, {
    store: createDirectoryStore(folder.path),
    compression: 'gzip',
    platform: new URL(sandbox.url).host,
    now: () => nowMs,
    random: Math.random,
  });
  return checkpoint.run;
}

const [MONDAY, TUESDAY] = [Date.parse('2026-11-16T09:00:00.100Z'), Date.parse('2026-11-17T09:00:00.200Z')];

test('resume names the run before it requests anything', async () => {
  const [id = ''] = sandbox.ids().dataFiles;

  const { err } = await run(['snapshot', 'data-files', '--id', id]);

  const { run: name } = JSON.parse(await readFile(join(folder.path, 'data-files/latest.json'), 'utf8'));
  expect(err.split('\n')[0]).toBe(`data-files: run ${name}`);
});

test('--resume last resumes the run that was started last, and says which run that is', async () => {
  const first = await begin(MONDAY);
  const last = await begin(TUESDAY + 1_000);
  await begin(TUESDAY);
  await begin(TUESDAY + 2, 'mine');

  const { code, err, out } = await run(['snapshot', 'data-files', '--resume', 'last', '--json']);

  expect(code).toBe(0);
  expect(err).toBe(`data-files: resuming run ${last}`);
  expect(JSON.parse(out)).toMatchObject({ run: last, published: true });
  expect(first).not.toBe(last);
});

test('--resume last skips runs that ended, and says if no run is left', async () => {
  const [id = ''] = sandbox.ids().dataFiles;
  await run(['snapshot', 'data-files', '--id', id]);
  const refused = await run(['snapshot', 'data-files', '--id', '99999999']);

  const { code, err } = await run(['snapshot', 'data-files', '--resume', 'last']);

  expect(refused.code).toBe(3);
  expect(code).toBe(2);
  expect(err).toBe(
    `platform-sync: --resume last: ${folder.path} has no run of data-files that was stopped; to start a new run: platform-sync snapshot data-files …`,
  );
});

test('ids that could not be read cause exit code 3 once, but not if the same ids fail again', async () => {
  const [id = ''] = sandbox.ids().dataFiles;
  const argv = ['snapshot', 'data-files', '--id', id, '--id', '99999998'];

  const first = await run(argv);
  const second = await run(argv);

  expect([first.code, second.code]).toEqual([3, 0]);
  expect(first.out).toContain('missing: 99999998 (404)\nincomplete: 1 id could not be read;');
  expect(second.out).toContain('missing: 99999998 (404)\n');
  expect(second.out).not.toContain('incomplete');
});

test('a narrowed run is resumed without the name of its place, by its id and as the last run', async () => {
  const datasets = sandbox.ids().datasets.slice(0, 1);
  const first = await beginOf({ source: 'cards', datasets, drill: false }, MONDAY);
  const last = await beginOf({ source: 'cards', datasets, drill: true }, TUESDAY);

  const ended = [
    await run(['snapshot', 'cards', '--resume', 'last']),
    await run(['snapshot', 'cards', '--resume', first]),
  ];

  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(ended[0]?.err).toContain(`cards.${datasets[0]}-`);
  expect(ended[0]?.err).toContain(`: resuming run ${last}`);
  expect(ended[1]?.err).toContain(`: resuming run ${first}`);
});

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import type { Store } from '../../lib/store/store.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();

const sandbox = await startPlatform({ calculations: 5, datasets: 2, cards: 2, fileSets: 0, dataFiles: 3 });

afterAll(() => sandbox.close());

async function run(...argv: readonly string[]) {
  return runCommand(argv, settingsOf(sandbox, folder.path));
}

const take = (...ids: readonly string[]) =>
  run('snapshot', 'data-files', '--json', ...ids.flatMap((id) => ['--id', id]));

const keysUnder = async (store: Store, prefix: string) =>
  (await Array.fromAsync(store.list(prefix))).map(({ key }) => key);

test('in a directory, a published run leaves nothing under work/, and `resume` and `publish` report it as published', async () => {
  const [id = ''] = sandbox.ids().dataFiles;

  const { run: name } = JSON.parse((await take(id)).out);
  const resumed = await run('snapshot', 'data-files', '--resume', name, '--json');
  const published = await run('publish', 'data-files', name, '--json');

  expect(await readdir(folder.path)).not.toContain('work');
  for (const again of [resumed, published]) {
    expect(again.code).toBe(0);
    expect(JSON.parse(again.out)).toMatchObject({ run: name, published: true, records: 1 });
  }
});

test('a refused run stays under work/ until it is published', async () => {
  // This data file does not exist.
  const { run: refused } = JSON.parse((await take('99999999')).out);
  const before = await keysUnder(createDirectoryStore(folder.path), `work/data-files/${refused}/`);
  const forced = await run('publish', 'data-files', refused, '--force');

  expect(before.length).toBeGreaterThan(0);
  expect(forced.code).toBe(0);
  expect(await readdir(folder.path)).not.toContain('work');
});

test('a run that was published before the last one cannot be published again, and the error says so', async () => {
  const [id = ''] = sandbox.ids().dataFiles;
  const { run: first } = JSON.parse((await take(id)).out);
  const { run: second } = JSON.parse((await take(id)).out);

  const again = await run('publish', 'data-files', first, '--force');
  const resumed = await run('snapshot', 'data-files', '--resume', first);

  const message = `run ${first} of data-files was published, run ${second} has been published since then, and its checkpoint no longer exists, so it cannot be published again`;
  expect(again).toMatchObject({ code: 2, err: `platform-sync: run: ${message}` });
  expect(resumed).toMatchObject({
    code: 2,
    err: `platform-sync: --resume: ${message}; to start a new run: platform-sync snapshot data-files …`,
  });
});

test('a damaged published run is not reported as published', async () => {
  const [id = ''] = sandbox.ids().dataFiles;
  const { run: name, parts } = JSON.parse((await take(id)).out);
  await rm(join(folder.path, parts[0].key));

  const again = await run('publish', 'data-files', name);

  expect(again.code).toBe(2);
  expect(again.err).toContain('expected a manifest, got nothing');
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { endWith } from '../../lib/cli/snapshots/show-publication.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { publishedManifest } from '../snapshot/published-manifest.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { createFakeTerminal } from './fake-terminal.ts';
import { runCommand, settingsOf } from './run-command.ts';

const folder = folderOfEach();

const sandbox = await startPlatform({ calculations: 0, datasets: 1, cards: 0, fileSets: 0, dataFiles: 3 });

afterAll(() => sandbox.close());

const run = (argv: readonly string[]) => runCommand(argv, { SYNC_STORE: folder.path });

const snapshot = (...ids: readonly string[]) => snapshotOf(sandbox, ...ids);

async function snapshotOf(platform: Sandbox, ...ids: readonly string[]): Promise<Manifest> {
  const argv = ['snapshot', 'data-files', '--json', ...ids.flatMap((id) => ['--id', id])];
  return JSON.parse((await runCommand(argv, settingsOf(platform, folder.path))).out);
}

/** Publishes a run, then takes one that is refused, since the token may no longer read the data file. Returns the latter. */
async function refusedAfter(): Promise<Manifest> {
  const small = { calculations: 0, datasets: 1, cards: 0, fileSets: 0, dataFiles: 3 };
  const before = await startPlatform(small);
  const [id = ''] = before.ids().dataFiles;
  await snapshotOf(before, id);
  await before.close();
  await using after = await startPlatform({
    ...small,
    port: Number(new URL(before.url).port),
    forbidden: [id],
  });
  return await snapshotOf(after, id);
}

const latest = async () => JSON.parse(await readFile(join(folder.path, 'data-files/latest.json'), 'utf8'));

describe('publish', () => {
  test('publishes a refused run with --force without the platform, and the manifest says that it was forced', async () => {
    const { run: refused } = await snapshot('7');

    const { code, out } = await run(['publish', 'data-files', refused, '--force']);

    const { run: published, manifest } = await latest();
    expect(code).toBe(0);
    expect(out).toContain('published with --force, although refused as: incomplete');
    expect(published).toBe(refused);
    expect(JSON.parse(await readFile(join(folder.path, manifest), 'utf8'))).toMatchObject({
      run: refused,
      publishable: false,
      refused: ['incomplete'],
      forced: true,
    });
  });

  test('builds the tables, unless they are left to the first query', async () => {
    const { run: refused } = await snapshot('7');
    const publish = ['publish', 'data-files', refused, '--force'];
    const parquet = () => readdir(join(folder.path, 'parquet'));

    await run([...publish, '--no-tables']);
    await expect(parquet()).rejects.toMatchObject({ code: 'ENOENT' });

    await run(publish);
    expect(await parquet()).toContain('data-files');
  });

  test('prints the manifest as one JSON value with --json', async () => {
    const { run: refused } = await refusedAfter();

    const { code, out, err } = await run(['publish', 'data-files', refused, '--json']);

    expect(code).toBe(3);
    expect((await latest()).run).not.toBe(refused);
    expect(JSON.parse(out)).toMatchObject({
      run: refused,
      ...{ published: false, outcome: 'refused', refused: ['empty', 'incomplete'] },
      forced: false,
      manifest: `work/data-files/${refused}/_manifest.json`,
    });
    expect(err).toContain('not published; refused as: empty, incomplete');
  });

  test('does nothing and exits 3 for a run that started before the published one, unless --force is given', async () => {
    const [id = ''] = sandbox.ids().dataFiles;
    const { run: earlier } = await snapshot('7');
    const { run: later } = await snapshot(id);

    const { code, out } = await run(['publish', 'data-files', earlier]);
    const kept = await latest();
    const forced = await run(['publish', 'data-files', earlier, '--force']);

    expect(code).toBe(3);
    expect(out).toContain(
      `not published: run ${later}, which started later, has been published in the meantime`,
    );
    expect(out).toContain(`to publish this run anyway: platform-sync publish data-files ${earlier} --force`);
    expect(kept).toMatchObject({ run: later });
    expect(forced.code).toBe(0);
    expect(forced.out).toMatch(/published with --force, although refused as: .*superseded/);
    expect(await latest()).toMatchObject({ run: earlier });
  });

  test('exits 2 for a run of another place, and names where it looked', async () => {
    const { run: refused } = await snapshot('7');

    const { code, err } = await run(['publish', 'data-files.mine', refused, '--force']);

    expect(code).toBe(2);
    expect(err).toContain(
      `run: work/data-files.mine/${refused}/_manifest.json in ${folder.path}: expected a manifest, got nothing`,
    );
  });
});

describe('a name from the platform cannot move the cursor', () => {
  const hostile = 'x\u001b[2J\u009b2J\u007f\u202e\u200f\u061c\u2066';
  const manifest = publishedManifest({
    idsFrom: hostile,
    fields: { [hostile]: ['string'] },
    missing: [{ id: hostile, status: 404, since: '2026-11-20T09:15:00.000Z' }],
  });
  const publication = { kind: 'refused', manifest, key: 'work/x/_manifest.json', broken: hostile } as const;
  const unsafe = /(?!\n)\p{Cc}|[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
  const moving = /(?!\n)\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

  test('in words', async () => {
    const { terminal, out } = createFakeTerminal();

    await endWith(publication, createMemoryStore(), { tables: false }, terminal);

    expect(out()).toContain('missing: x');
    expect(out()).not.toMatch(moving);
  });

  test('in JSON, which has the same value', async () => {
    const store = createDirectoryStore(folder.path);
    await store.put(`work/calculations/${manifest.run}/_manifest.json`, printStored(manifest));

    const { code, out } = await run(['publish', 'calculations', manifest.run, '--json']);

    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      ...manifest,
      published: true,
      outcome: 'published',
      store: folder.path,
      manifest: expect.stringMatching(/_manifest\.json$/),
    });
    expect(out).not.toMatch(unsafe);
  });
});

test('publish names the first five missing ids, and counts the rest', async () => {
  const missing = ['1', '2', '3', '4', '5', '6', '7'].map((id) => ({
    id,
    status: 404,
    since: '2026-11-20T00:00:00.000Z',
  }));
  const manifest = publishedManifest({ missing, records: 1 });

  const { terminal, out } = createFakeTerminal();

  const ended = await endWith(
    { kind: 'published', manifest, key: 'x' },
    createMemoryStore(),
    { tables: false },
    terminal,
  );

  expect(ended).toBe('done');
  expect(out()).toContain('missing: 1 (404), 2 (404), 3 (404), 4 (404), 5 (404), and 2 more');
  expect(out()).toContain('calculations: 1 record in 1 part,');
});

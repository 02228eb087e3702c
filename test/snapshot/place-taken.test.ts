import { beforeEach, expect, test } from 'vitest';
import { runCommandLine } from '../../lib/cli/command-line.ts';
import { afterStepFailure } from '../../lib/snapshot/durable/after-step-failure.ts';
import { type Place, placeOf } from '../../lib/snapshot/keys.ts';
import { PlaceTakenError } from '../../lib/snapshot/place-taken.ts';
import { publishRun } from '../../lib/snapshot/publish/publish.ts';
import { beginRun } from '../../lib/snapshot/run/begin-run.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import type { Store } from '../../lib/store/store.ts';
import { createFakeTerminal } from '../cli/fake-terminal.ts';
import { folderOfEach } from '../folder-of-each.ts';
import { publishedManifest } from './published-manifest.ts';

const folder = folderOfEach();
let store: Store;

beforeEach(async () => {
  store = createDirectoryStore(folder.path);
});

const begin = (as?: string) =>
  beginRun(
    { source: 'calculations', ...(as === undefined ? {} : { as, name: 'x' }) },
    { store, compression: 'gzip', platform: 'acme.example.com', now: Date.now, random: Math.random },
  );

/** Publishes an empty run at a place. */
async function publish(place: Place, id = '20261121T091500Z-3fa9c1') {
  const startedAt = '2026-11-21T09:15:00.000Z';
  const {
    publishable: _p,
    refused: _r,
    forced: _f,
    changes: _c,
    ...found
  } = publishedManifest({
    source: place,
    run: id,
    startedAt,
    records: 0,
    parts: [],
  });
  const finished = { ...found, scanRefused: [] };
  return publishRun({ store, source: place, run: { id, startedAt }, finished, force: true });
}

test('a place whose name differs from another only in case is refused before anything is stored', async () => {
  await publish('calculations.Weekly');

  const begun = begin('weekly');

  await expect(begun).rejects.toThrow(
    `calculations.weekly in ${folder.path}: expected a name that differs from every other in more than the case of its letters, got one beside calculations.Weekly`,
  );
  expect(await Array.fromAsync(store.folders('work/'))).toEqual(['work/calculations.Weekly']);
});

test('a run that was begun before the other was published is not published', async () => {
  await begin('weekly');
  await publish('calculations.Weekly');

  const published = publish('calculations.weekly', '20261121T091500Z-3fa9c2');

  await expect(published).rejects.toThrow(PlaceTakenError);
  expect(await Array.fromAsync(store.folders('calculations'))).toEqual(['calculations.Weekly']);
});

test('a place that is there already stays as it is, and so do other names and other sources', async () => {
  await publish('calculations.Weekly');
  // As S3 has them, where two processes began at the same time.
  await store.put('calculations.weekly/latest.json', Buffer.from('{}'));

  const places = [await begin('Weekly'), await begin('weekly'), await begin('weekly2'), await begin()];

  expect(places.map(({ checkpoint }) => checkpoint.source)).toEqual([
    'calculations.Weekly',
    'calculations.weekly',
    'calculations.weekly2',
    'calculations',
  ]);
});

test('a command is told that the name is taken, as wrong usage; a durable run is not tried again', async () => {
  await publish('calculations.Weekly');
  const { terminal, err } = createFakeTerminal({
    PLATFORM_BASE_URL: 'http://127.0.0.1:9',
    PLATFORM_TOKEN: 'token',
    SYNC_STORE: folder.path,
  });

  const code = await runCommandLine(['snapshot', 'calculations', '--name', 'x', '--as', 'weekly'], terminal);

  expect(code).toBe(2);
  expect(err()).toMatch(/^platform-sync: calculations\.weekly in .* got one beside calculations\.Weekly$/);
  const taken = new PlaceTakenError(placeOf('calculations', 'weekly'), 'calculations.Weekly', folder.path);
  expect(afterStepFailure(taken, 1, 0.5)).toEqual({ kind: 'stop' });
});

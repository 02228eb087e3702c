import {
  latestKey,
  MANIFEST_NAME,
  type Place,
  publishedFolder,
  type Run,
} from '../../../lib/snapshot/keys.ts';
import { type Latest, type Manifest, readLatest } from '../../../lib/snapshot/manifest.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { publishedManifest } from '../published-manifest.ts';
import { storeRun } from './stored-run.ts';

export type PublishedLines = {
  readonly place?: Place;
  readonly run: Run;
  readonly lines?: readonly string[];
  readonly manifest?: Partial<Manifest>;
};

/** Stores a run with these lines as publishing does, and moves `latest.json` to it. */
export async function publishLines(store: Store, published: PublishedLines): Promise<void> {
  const { place = 'calculations', run, lines = [], manifest } = published;
  const folder = publishedFolder(place, run);
  const { parts } = await storeRun(store, folder.slice(0, -1), lines);
  const stored = publishedManifest({
    source: place,
    run: run.id,
    startedAt: run.startedAt,
    finishedAt: run.startedAt,
    parts,
    ...manifest,
  });
  const key = `${folder}${MANIFEST_NAME}`;
  await store.put(key, printStored(stored));
  await moveLatest(store, place, { run: run.id, manifest: key, startedAt: run.startedAt });
}

type Next = Pick<Latest, 'run' | 'manifest' | 'startedAt'>;

/** Moves `latest.json` to a run, and lists the previous one in it. */
export async function moveLatest(store: Store, place: Place, next: Next): Promise<void> {
  const latest = await readLatest(store, place);
  const earlier = latest === undefined ? [] : [...latest.earlier, latest.manifest];
  await store.put(latestKey(place), printStored({ ...next, earlier, removed: latest?.removed ?? [] }));
}

export const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
export const tuesday: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };
export const wednesday: Run = { id: '20261118T090000Z-cccccc', startedAt: '2026-11-18T09:00:00.000Z' };

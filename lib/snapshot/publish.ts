import type { Store } from '../store/store.ts';
import { type GatedRun, refusals } from './gates.ts';
import { latestKey, MANIFEST_NAME, publishedFolder, type Source, workFolder } from './keys.ts';
import { type Latest, type Manifest, printStored, readLatest, readManifest } from './manifest.ts';
import type { Run } from './run-id.ts';

/** How a finished run ended. `key` is where its manifest lies; `latest` what `latest.json` names now. */
export type Publication =
  | { readonly kind: 'published'; readonly manifest: Manifest; readonly key: string }
  | { readonly kind: 'refused'; readonly manifest: Manifest; readonly key: string }
  /** A run that started later was published meanwhile; this one stays under `work/`. */
  | {
      readonly kind: 'superseded';
      readonly manifest: Manifest;
      readonly key: string;
      readonly latest: Latest;
    };

export type PublishOptions = {
  readonly store: Store;
  readonly source: Source;
  readonly run: Run;
  /** All that the run found out; its parts lie in the work folder. */
  readonly finished: FinishedRun;
  /** Publish although a gate refused. */
  readonly force: boolean;
};

/** A manifest before the gates have spoken. */
export type FinishedRun = Omit<Manifest, 'publishable' | 'refused' | 'forced' | 'changes'> &
  Pick<GatedRun, 'degraded'>;

/** Publishers that move `latest.json` between our reading and our writing, before we give up. */
const MOST_RACES = 20;

/**
 * Publishes a finished run unless a gate refuses: copies its parts, writes its manifest, and then moves `latest.json`
 * on condition that nobody moved it meanwhile. If somebody did, all is judged again against their run, so
 * `latest.json` never goes back to an earlier start.
 */
export async function publishRun(options: PublishOptions): Promise<Publication> {
  for (let race = 0; race < MOST_RACES; race += 1) {
    const publication = await tryToPublish(options);
    if (publication !== 'lost-race') return publication;
  }
  throw new Error(
    `${latestKey(options.source)} was moved by others ${MOST_RACES} times in a row; nothing was published`,
  );
}

async function tryToPublish(options: PublishOptions): Promise<Publication | 'lost-race'> {
  const { store, source, run, finished, force } = options;
  const latest = await readLatest(store, source);
  const last = latest === undefined ? undefined : await readManifest(store, latest.manifest);
  const refused = [...refusals(finished, last)];
  const { degraded: _, ...found } = finished;
  const manifest: Manifest = {
    ...found,
    changes: null,
    publishable: refused.length === 0,
    refused,
    forced: force && refused.length > 0,
  };
  const workKey = `${workFolder(source, run)}${MANIFEST_NAME}`;
  await store.put(workKey, printStored(manifest));
  if (latest !== undefined && latest.startedAt >= run.startedAt) {
    return { kind: 'superseded', manifest, key: workKey, latest };
  }
  if (refused.length > 0 && !force) return { kind: 'refused', manifest, key: workKey };

  const published = await copyRun(store, manifest, publishedFolder(source, run));
  const key = `${publishedFolder(source, run)}${MANIFEST_NAME}`;
  await store.put(key, printStored(published));
  const next: Latest = { run: run.id, manifest: key, startedAt: run.startedAt };
  const moved = await store.put(latestKey(source), printStored(next), {
    condition: latest === undefined ? { ifAbsent: true } : { ifMatch: latest.etag },
  });
  return moved.kind === 'stored' ? { kind: 'published', manifest: published, key } : 'lost-race';
}

/** Copies exactly the manifest's parts into the run's folder; answers the manifest with their new keys. */
async function copyRun(store: Store, manifest: Manifest, folder: string): Promise<Manifest> {
  const parts = [];
  for (const part of manifest.parts) {
    const key = `${folder}${part.key.slice(part.key.lastIndexOf('/') + 1)}`;
    await store.copy(part.key, key);
    parts.push({ ...part, key });
  }
  return { ...manifest, parts };
}

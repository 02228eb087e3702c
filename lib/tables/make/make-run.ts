import { anyRecord } from '../../json/record-schema.ts';
import type { PublishedRun } from '../../snapshot/changes/published-runs.ts';
import { type Place, parquetFolder, seriesOf, sourceOf, workFolder } from '../../snapshot/keys.ts';
import {
  type Manifest,
  manifestOf,
  type ParquetPart,
  readLatest,
  readManifest,
} from '../../snapshot/manifest.ts';
import { manifestKeys } from '../../snapshot/publish/manifest-key.ts';
import type { Partitions } from '../../snapshot/publish/partitions.ts';
import { publishParquet } from '../../snapshot/publish/publish-parquet.ts';
import { LATEST_AGAIN, RUN_TAG } from '../../snapshot/publish/run-tag.ts';
import { tagReplaced } from '../../snapshot/publish/tag-runs.ts';
import type { Warn } from '../../snapshot/publish/warn.ts';
import type { Run } from '../../snapshot/run-id.ts';
import { isSource, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { findStored, MOST_LIST_BYTES, printBounded, StoredObjectError } from '../../store/stored-json.ts';
import { parquetFormat } from '../parquet/parquet-format.ts';
import { type KnownParquet, remember, withKnown } from './known-parquet.ts';
import { type MadeFolder, SourceChangedError } from './make-folder.ts';

export type RunToMake = {
  readonly store: Store;
  readonly place: Place;
  /** The tables over the published runs. Default: none. */
  readonly partitions?: Partitions | undefined;
  /** The Parquet of parts that are known, by the parts' sha256: equal parts are copied. What is made is added. */
  readonly known: KnownParquet;
  /** Asked after each file that was made: true ends the work. */
  readonly isOver: () => boolean;
  /** Only count what is missing. */
  readonly isDry: boolean;
  /**
   * Default: false. If not, a run of a narrowed snapshot that has Parquet gets its partition again: it may have been
   * published before the snapshot had a table.
   */
  readonly isSparse?: boolean | undefined;
  readonly warn: Warn;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Makes the Parquet of a run that was published without: its files, then its partition, then the manifest that names
 * them, which is replaced as it was read. Whoever is killed leaves the rest to the next call; the partition comes before
 * the manifest, since a run with Parquet is not looked at again. Undefined if the run has Parquet, or is gone. Throws
 * `StoredObjectError` if a part is damaged: then none of its Parquet stays.
 */
export async function makeRun(
  { run: id, manifest: key }: PublishedRun,
  options: RunToMake,
): Promise<MadeFolder | undefined> {
  const { store, place, isDry, isSparse = false } = options;
  const manifest = await manifestOf(store, key, { place, run: id });
  const run = { id, startedAt: manifest.startedAt };
  if (manifest.parquet !== undefined) {
    remember(options.known, manifest);
    if (!isSource(place) && !isDry && !isSparse) await options.partitions?.add(place, run, manifest);
    return undefined;
  }
  if (isDry) return { ...NOTHING, files: manifest.parts.length };
  try {
    return await storeParquet({ ...options, run, key }, manifest);
  } catch (error) {
    if (error instanceof StoredObjectError) await withdraw({ ...options, run, key });
    throw error;
  }
}

const NOTHING: MadeFolder = { files: 0, records: 0, bytes: 0, other: 0, isLeft: false };

type Making = RunToMake & { readonly run: Run; readonly key: string };

async function storeParquet(options: Making, manifest: Manifest): Promise<MadeFolder | undefined> {
  const { store, place, run, partitions, known, isOver, signal } = options;
  const [first] = manifest.parts;
  const series = seriesOf(first?.key ?? '') ?? 1;
  const tag = first && (await store.tagOf?.(first.key, RUN_TAG));
  const wasLatest = (await readLatest(store, place))?.run === run.id;
  const source = sourceOf(place);
  const work = `${workFolder(place, run)}publish/`;
  const parquet = await publishParquet({
    store,
    source,
    parts: manifest.parts,
    folder: parquetFolder(place, run),
    records: series === 1 ? work : `${work}series-${series}/`,
    series,
    last: {
      manifest: withKnown(known, manifest, parquetFormat(sourceDefinitions[source].columns)),
      folder: `parquet/${place}/`,
    },
    isOver,
    signal,
  });
  if (parquet === undefined) return { ...NOTHING, isLeft: true };
  // Copies have the tags of what they were copied from.
  await store.tagAll?.(parquetFolder(place, run), { name: RUN_TAG, value: tag ?? LATEST_AGAIN });
  await partitions?.add(place, run, { parquet });
  if (!(await nameParquet(options, parquet, tag))) {
    await withdraw(options);
    return undefined;
  }
  remember(known, { ...manifest, parquet });
  if (wasLatest) await tagIfReplaced(options);
  const { parts, other } = parquet;
  const total = (count: (part: ParquetPart) => number) => parts.reduce((sum, part) => sum + count(part), 0);
  return {
    files: parts.length,
    records: total(({ records }) => records),
    bytes: total(({ bytes }) => bytes),
    other,
    isLeft: false,
  };
}

/** How often the manifest may be replaced between our read and our write. */
const MOST_ROUNDS = 10;

/** Puts the Parquet into the manifest, with all else that is in it; false if the manifest is gone. */
async function nameParquet(
  { store, place, run, key }: Making,
  parquet: NonNullable<Manifest['parquet']>,
  tag: string | undefined,
): Promise<boolean> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    // Also what later versions may have put there.
    const stored = await findStored(store, key, anyRecord(), MOST_LIST_BYTES);
    if (stored === undefined) return false;
    if ('parquet' in stored.value) return true;
    const body = printBounded(key, { ...stored.value, parquet }, MOST_LIST_BYTES);
    const put = await store.put(key, body, {
      condition: { ifMatch: stored.etag },
      tag: tag === undefined ? undefined : { name: RUN_TAG, value: tag },
    });
    if (put.kind === 'stored') return true;
  }
  throw new SourceChangedError(`${key} of run ${run.id} of ${place} was replaced ${MOST_ROUNDS} times`);
}

/** Deletes what is there of a run's Parquet, unless a manifest names it, and the partition of a run that is gone. */
async function withdraw({ store, place, run, partitions }: Making): Promise<void> {
  const manifests = await manifestKeys(store, place, run);
  const named = new Set<string>();
  for (const key of manifests)
    for (const part of (await readIfSound(store, key))?.parquet?.parts ?? []) named.add(part.key);
  if (manifests.length === 0) await partitions?.remove(place, run);
  const strays: string[] = [];
  for await (const { key } of store.list(parquetFolder(place, run))) if (!named.has(key)) strays.push(key);
  for (const stray of strays) await store.delete(stray);
}

async function readIfSound(store: Store, key: string): Promise<Manifest | undefined> {
  try {
    return await readManifest(store, key);
  } catch (error) {
    if (error instanceof StoredObjectError) return undefined;
    throw error;
  }
}

/** Tags all of a run that was the newest when its Parquet was begun, and is not any more: some may have been stored since. */
async function tagIfReplaced({ store, place, run, warn }: Making): Promise<void> {
  const latest = await readLatest(store, place);
  if (latest !== undefined && latest.run !== run.id)
    await tagReplaced({ store, place, warn }, { replaced: run, by: { id: latest.run } });
}

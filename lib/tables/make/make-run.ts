import * as z from 'zod/mini';
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
import { type KnownParquet, type ParquetThere, remember, withKnown } from './known-parquet.ts';
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
 * Makes the Parquet of a run that was published without, or what it has lost of it: its files, then its partition, then
 * the manifest that names them, which is replaced as it was read. Whoever is killed leaves the rest to the next call; the
 * partition comes before the manifest, since a run with all of its Parquet needs nothing else. Undefined if the run has
 * it, or is gone. Throws `StoredObjectError` if a part is damaged: then no Parquet stays that no manifest names.
 */
export async function makeRun(
  { run: id, manifest: key }: PublishedRun,
  options: RunToMake,
): Promise<MadeFolder | undefined> {
  const { store, place, isDry, isSparse = false } = options;
  const manifest = await manifestOf(store, key, { place, run: id });
  const run = { id, startedAt: manifest.startedAt };
  const there = await parquetThere({ store, place, run }, manifest);
  remember(options.known, { ...manifest, parquet: there });
  const sound = new Set(there?.parts.flatMap((part) => part?.key ?? []));
  const lost = manifest.parts.length - sound.size;
  if (manifest.parquet !== undefined && lost === 0) {
    if (!isSource(place) && !isDry && !isSparse) await options.partitions?.add(place, run, manifest);
    return undefined;
  }
  if (isDry) return { ...NOTHING, files: lost };
  try {
    return await storeParquet({ ...options, run, key, sound }, manifest);
  } catch (error) {
    if (error instanceof StoredObjectError) await withdraw({ ...options, run });
    throw error;
  }
}

/** The Parquet that the manifest of a run names, without what is lost or has another size. */
async function parquetThere(
  { store, place, run }: Pick<Making, 'store' | 'place' | 'run'>,
  { parquet }: Manifest,
): Promise<ParquetThere | undefined> {
  if (parquet === undefined) return undefined;
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(parquetFolder(place, run))) sizes.set(key, sizeBytes);
  const parts = parquet.parts.map((part) => (sizes.get(part.key) === part.bytes ? part : undefined));
  return { ...parquet, parts };
}

const NOTHING: MadeFolder = { files: 0, records: 0, bytes: 0, other: 0, isLeft: false };

type Making = RunToMake & {
  readonly run: Run;
  /** Of its manifest. */
  readonly key: string;
  /** The keys of its Parquet that is there. */
  readonly sound: ReadonlySet<string>;
};

async function storeParquet(options: Making, manifest: Manifest): Promise<MadeFolder | undefined> {
  const { store, place, run, partitions, known, sound, isOver, signal } = options;
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
  await partitions?.add(place, run, { ...manifest, parquet });
  const isNamed = await nameParquet(options, { before: manifest.parquet, parquet, tag });
  // What was made anew may have another name.
  if (!isNamed || manifest.parquet !== undefined) await withdraw(options);
  if (!isNamed) return undefined;
  remember(known, { ...manifest, parquet });
  if (wasLatest) await tagIfReplaced(options);
  const parts = parquet.parts.filter(({ key }) => !sound.has(key));
  const total = (count: (part: ParquetPart) => number) => parts.reduce((sum, part) => sum + count(part), 0);
  return {
    files: parts.length,
    records: total(({ records }) => records),
    bytes: total(({ bytes }) => bytes),
    other: total(({ other }) => other),
    isLeft: false,
  };
}

/** How often the manifest may be replaced between our read and our write. */
const MOST_ROUNDS = 10;

/** Puts the Parquet into the manifest, with all else that is in it; false if the manifest is gone. */
async function nameParquet(
  { store, place, run, key }: Making,
  { before, parquet, tag }: ParquetToName,
): Promise<boolean> {
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const stored = await findStored(store, key, anyRecord(), MOST_LIST_BYTES);
    if (stored === undefined) return false;
    const named = keysIn(stored.value['parquet']);
    // Another one may have made it, or what was lost of it.
    if (named !== keysIn(before) || named === keysIn(parquet)) return true;
    const body = printBounded(key, { ...stored.value, parquet }, MOST_LIST_BYTES);
    const put = await store.put(key, body, {
      condition: { ifMatch: stored.etag },
      tag: tag === undefined ? undefined : { name: RUN_TAG, value: tag },
    });
    if (put.kind === 'stored') return true;
  }
  throw new SourceChangedError(`${key} of run ${run.id} of ${place} was replaced ${MOST_ROUNDS} times`);
}

type ParquetToName = {
  /** What the manifest had when the run was looked at. */
  readonly before: Manifest['parquet'];
  readonly parquet: NonNullable<Manifest['parquet']>;
  readonly tag: string | undefined;
};

const parquetKeys = z.object({ parts: z.array(z.object({ key: z.string() })) });

/** The keys that a manifest names as Parquet, as one text; undefined if it names none. */
function keysIn(parquet: unknown): string | undefined {
  const { data } = z.safeParse(parquetKeys, parquet);
  return data?.parts.map(({ key }) => key).join(' ');
}

/** Deletes what is there of a run's Parquet, unless a manifest names it, and the partition of a run that is gone. */
async function withdraw({
  store,
  place,
  run,
  partitions,
}: Pick<Making, 'store' | 'place' | 'run' | 'partitions'>): Promise<void> {
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

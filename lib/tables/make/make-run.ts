import { hash } from 'node:crypto';
import { USES_FORMAT } from '../../model/index.ts';
import type { PublishedRun } from '../../snapshot/changes/published-runs.ts';
import type { Warn } from '../../snapshot/history/clear-work.ts';
import {
  isWasLatestKey,
  type Place,
  PRUNED_NAME,
  parquetFolder,
  publishedFolder,
  sourceOf,
  TAGGED_NAME,
} from '../../snapshot/keys.ts';
import { type Manifest, manifestOf } from '../../snapshot/manifest.ts';
import { manifestKeys } from '../../snapshot/publish/manifest-key.ts';
import { tagReplaced, untagLatest } from '../../snapshot/publish/tag-runs.ts';
import { type Run, runOfId } from '../../snapshot/run-id.ts';
import { isSource, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import { printStored, type Store, StoredObjectError, StoreError } from '../../store/index.ts';
import { fileName, type MadeFile, madeOf, readMade, writeMade } from '../made/made-files.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';
import type { Partitions } from '../partitions/partitions.ts';
import { openPartFiles, usesFolder } from './part-files.ts';

export type RunToMake = {
  readonly store: Store;
  readonly place: Place;
  /** Its name, the key of its manifest, and the marks in its folder. */
  readonly run: PublishedRun;
  readonly isLatest: boolean;
  /** The names in the folder of its Parquet. */
  readonly made: ReadonlySet<string>;
  /** Runs that may have parts with the same bytes: what these have of them is copied. */
  readonly neighbours: readonly string[];
  /** The tables over the published runs. Default: none. */
  readonly partitions?: Partitions | undefined;
  /** Trust what is recorded. If not, each file is looked for, and narrowed snapshots get their partitions again. */
  readonly isSparse?: boolean | undefined;
  /** Asked after each part: true ends the work. */
  readonly isOver: () => boolean;
  /** Only count what is missing. */
  readonly isDry: boolean;
  readonly warn: Warn;
  readonly signal?: AbortSignal | undefined;
};

/** What was made, or would be: of how many parts; `isLeft` if there is more to do. */
export type MadeRun = {
  readonly files: number;
  readonly records: number;
  readonly bytes: number;
  readonly other: number;
  readonly isLeft: boolean;
};

/** Recorded once all of a run's Parquet, so many files, and uses are made, and its partitions are added. Other columns, other names. */
function markOf({ place, partitions }: Pick<RunToMake, 'place' | 'partitions'>, files: number): string {
  const format = `${parquetFormat(sourceDefinitions[sourceOf(place)].columns)}-${USES_FORMAT}`;
  return `_tables-${format}-${files}${partitions === undefined ? '' : '-in-glue'}.json`;
}

/**
 * Makes what a published run lacks of its tables, part by part: its Parquet, its uses, its partitions, and the tag of a
 * run that was replaced. Whoever is killed leaves the rest to the next call, and several may do it at once: the bytes
 * depend on the parts alone. Undefined if no file was missing, or if the run is gone. Throws `StoredObjectError` if a
 * part is damaged, or the run gets another manifest meanwhile.
 */
export async function makeRun(options: RunToMake): Promise<MadeRun | undefined> {
  const { run, made, isSparse = false, isDry } = options;
  const files = [...made].filter((name) => name.endsWith('.parquet')).length;
  const isDone = isSparse && made.has(markOf(options, files));
  const making: Making = { ...options, at: runOfId(run.run), change: beginChange(options) };
  const outcome = isDone ? undefined : await unlessGone(making);
  if (outcome === 'gone') return undefined;
  if (!isDry && outcome?.isLeft !== true) await tagAsItIs(making);
  return outcome;
}

type Making = RunToMake & { readonly at: Run; readonly change: Change };

/** What is stored from now on lacks the tag, so before the first of it the record goes that all have it. */
type Change = { readonly begin: () => Promise<void>; readonly hasBegun: () => boolean };

function beginChange({ store, place, run }: RunToMake): Change {
  let hasBegun = false;
  return {
    async begin() {
      if (!hasBegun && run.marks.has(TAGGED_NAME))
        await store.delete(`${publishedFolder(place, runOfId(run.run))}${TAGGED_NAME}`);
      hasBegun = true;
    },
    hasBegun: () => hasBegun,
  };
}

/** Makes the files, and deletes them again if the run is removed meanwhile: a part of it may be missing then. */
async function unlessGone(making: Making): Promise<MadeRun | 'gone' | undefined> {
  const made = await makeFiles(making).catch((error: unknown) => {
    if (error instanceof StoredObjectError) return error;
    throw error;
  });
  if ((await manifestNow(making)) === undefined) {
    if (!making.isDry) await withdraw(making);
    return 'gone';
  }
  if (made instanceof Error) throw made;
  return made;
}

async function makeFiles(making: Making): Promise<MadeRun | undefined> {
  const { store, place, at, partitions, isDry, isSparse = false, isOver, change } = making;
  const manifest = await manifestNow(making);
  if (manifest === undefined) return undefined;
  const folder = parquetFolder(place, at);
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes);
  const recorded: MadeFile[] = [...(await readMade(store, place, at))];
  const files = await openPartFiles(making);
  const counts = { files: 0, records: 0, bytes: 0, other: 0, isLeft: false };
  for (const [index, part] of manifest.parts.entries()) {
    const key = `${folder}${fileName(index)}`;
    const known = recorded[index];
    const isMade = known?.of === madeOf(place, part) && sizes.get(key) === known.bytes;
    sizes.delete(key);
    if (isMade && !files.lacksUses(part)) continue;
    counts.files += 1;
    if (isDry) continue;
    await change.begin();
    if (!isMade) {
      const { body, records, other } = await files.parquet(part);
      const [bytes, sha256] = [body.byteLength, hash('sha256', body)];
      await store.put(key, body, { contentType: 'application/vnd.apache.parquet', sha256 });
      recorded[index] = { of: madeOf(place, part), records, bytes, sha256, other };
      await writeMade(store, place, at, recorded.slice(0, manifest.parts.length));
      counts.records += records;
      counts.bytes += bytes;
      counts.other += other;
    }
    if (files.lacksUses(part)) await files.uses(part);
    if (isOver()) return { ...counts, isLeft: true };
  }
  const outcome = counts.files > 0 ? counts : undefined;
  if (isDry) return outcome;
  for (const key of sizes.keys()) if (key.endsWith('.parquet')) await store.delete(key);
  const mark = markOf(making, manifest.parts.length);
  const hasMark = making.made.has(mark);
  const isAdded = hasMark && (isSparse || isSource(place)) && !change.hasBegun();
  if (!isAdded) await partitions?.add(place, at, manifest);
  if (hasMark) return outcome;
  await change.begin();
  await store.put(`${folder}${mark}`, printStored({ run: at.id }));
  return outcome;
}

/** The manifest of a run; undefined if it is gone, or being removed. */
async function manifestNow({ store, place, at, run }: Making): Promise<Manifest | undefined> {
  const folder = publishedFolder(place, at);
  if ((await store.get(`${folder}${PRUNED_NAME}`)) !== undefined) return undefined;
  try {
    return await manifestOf(store, run.manifest, { place, run: at.id });
  } catch (error) {
    if (!(error instanceof StoredObjectError) || error.kind !== 'missing') throw error;
    if ((await manifestKeys(store, place, at)).length === 0) return undefined;
    throw error;
  }
}

/** Deletes what was made of a run that is gone. */
async function withdraw({ store, place, at, partitions }: Making): Promise<void> {
  await partitions?.remove(place, at);
  for (const prefix of [parquetFolder(place, at), usesFolder(place, at)])
    for (const { key } of await Array.fromAsync(store.list(prefix))) await store.delete(key);
}

/** Tags a run that was replaced, unless all of it has the tag; takes it from the newest. A store that refuses costs a warning. */
async function tagAsItIs({ store, place, at, run, isLatest, change, warn }: Making): Promise<void> {
  const hasTags = run.marks.has(TAGGED_NAME) && !change.hasBegun();
  try {
    const wasReplaced = [...run.marks].some(isWasLatestKey);
    if (isLatest && wasReplaced) await untagLatest({ store, place, run: at });
    if (!isLatest && !hasTags) await tagReplaced({ store, place, run: at });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    warn(
      `run ${at.id} of ${place} could not be tagged as what it is: ${isLatest ? 'the newest' : 'replaced'}`,
      error,
    );
  }
}

import { USES_FORMAT } from '../../model/index.ts';
import type { PublishedKeys } from '../../snapshot/changes/published-runs.ts';
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
import { type Manifest, manifestOf, type Part } from '../../snapshot/manifest.ts';
import { manifestKeys } from '../../snapshot/publish/manifest-key.ts';
import { tagReplaced, untagLatest } from '../../snapshot/publish/tag-runs.ts';
import { type Run, runOfId } from '../../snapshot/run-id.ts';
import { isSource, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import { printStored, StoredObjectError, StoreError } from '../../store/index.ts';
import { type FileToMake, madeOf } from '../made/made-files.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';
import type { Partitions } from '../partitions/partitions.ts';
import { type MadeFolder, type MakeOptions, makeFolder, SourceChangedError } from './make-folder.ts';
import { openPartFiles, usesFolder } from './part-files.ts';

export type RunToMake = MakeOptions & {
  readonly place: Place;
  /** Its name, the key of its manifest, and the marks in its folder. */
  readonly run: PublishedKeys;
  readonly isLatest: boolean;
  /** The names in the folder of its Parquet. */
  readonly made: ReadonlySet<string>;
  /** Runs that may have parts with the same bytes: what these have of them is copied. */
  readonly neighbours: readonly string[];
  /** The tables over the published runs. Default: none. */
  readonly partitions?: Partitions | undefined;
  /** Trust what is recorded. If not, each file is looked for, and narrowed snapshots get their partitions again. */
  readonly isSparse?: boolean | undefined;
  readonly warn: Warn;
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
 * part is damaged.
 */
export async function makeRun(options: RunToMake): Promise<MadeFolder | undefined> {
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
async function unlessGone(making: Making): Promise<MadeFolder | 'gone' | undefined> {
  const made = await makeFiles(making).catch((error: unknown) => {
    if (error instanceof StoredObjectError) return error;
    throw error;
  });
  if (made !== undefined && 'isLeft' in made && made.isLeft) return made;
  if ((await manifestNow(making)) === undefined) {
    if (!making.isDry) await withdraw(making);
    return 'gone';
  }
  if (made instanceof Error) throw made;
  return made;
}

async function makeFiles(making: Making): Promise<MadeFolder | undefined> {
  const { store, place, at, made, partitions, isDry, isSparse = false, isOver, change } = making;
  const folder = parquetFolder(place, at);
  let manifest = await manifestNow(making);
  const files = await openPartFiles({ ...making, beforePut: change.begin });
  const parquet = await makeFolder<PartFile>({
    ...making,
    folder,
    make: ({ part }) => files.parquet(part),
    async *files() {
      manifest = await manifestNow(making);
      for (const part of manifest?.parts ?? []) yield { of: madeOf(place, part), part };
    },
    mayStay: async () => (await manifestNow(making)) !== undefined,
  });
  if (parquet.isLeft) return parquet;
  const uses = (manifest?.parts ?? []).filter(files.lacksUses);
  // A part that lacks both is one.
  const counts = { ...parquet, files: Math.max(parquet.files, uses.length) };
  const outcome = counts.files > 0 ? counts : undefined;
  if (isDry) return outcome;
  for (const part of uses) {
    await files.uses(part);
    if (isOver()) return { ...counts, isLeft: true };
  }
  if (manifest === undefined) return outcome;
  const mark = markOf(making, manifest.parts.length);
  const isAdded = made.has(mark) && (isSparse || isSource(place)) && !change.hasBegun();
  if (!isAdded) await partitions?.add(place, at, manifest);
  if (made.has(mark)) return outcome;
  await change.begin();
  await store.put(`${folder}${mark}`, printStored({ run: at.id }));
  return outcome;
}

/** A part, whose Parquet is a file. */
type PartFile = FileToMake & { readonly part: Part };

/** The manifest of a run; undefined if it is gone, or being removed. Throws `SourceChangedError` if it has another one. */
async function manifestNow({ store, place, at, run }: Making): Promise<Manifest | undefined> {
  const folder = publishedFolder(place, at);
  if ((await store.get(`${folder}${PRUNED_NAME}`)) !== undefined) return undefined;
  try {
    return await manifestOf(store, run.manifest, { place, run: at.id });
  } catch (error) {
    if (!(error instanceof StoredObjectError) || error.kind !== 'missing') throw error;
    if ((await manifestKeys(store, place, at)).length === 0) return undefined;
    throw new SourceChangedError(`${run.manifest} was replaced`);
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

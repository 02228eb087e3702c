import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { once } from '../../base/index.ts';
import { createUsesBuilder, hasLinks, USES_FORMAT, usesKey, usesOfPart } from '../../model/index.ts';
import {
  deleteTaggedMark,
  type Manifest,
  manifestOf,
  type Part,
  type PublishedRun,
  placesIn,
  publishedRuns,
  readLatest,
  updateRunTags,
} from '../../snapshot/history/index.ts';
import {
  isSource,
  type Place,
  parquetFolder,
  parsePlace,
  publishedFolder,
  type Run,
  runOfId,
  sourceDefinitions,
  sourceOf,
} from '../../snapshot/sources/index.ts';
import { printStored, type Store, StoredObjectError, StoreError } from '../../store/index.ts';
import { parquetFormat } from '../parquet/hive-type.ts';
import type { BuiltParquet } from '../parquet/parquet-writer.ts';
import {
  createParquetBuilder,
  fileName,
  intactParquet,
  type ParquetFile,
  parquetIdOf,
  readBuilt,
  recordBuilt,
} from '../parquet/part-files.ts';
import type { openPartitions } from '../partitions/partitions.ts';
import { listRuns, pointAtLatest } from './runs-table.ts';

/** Where to build tables, and for how long. */
export type TablesToBuild = Pick<
  RunToBuild,
  'store' | 'isOver' | 'signal' | 'partitions' | 'isSparse' | 'warn'
> & {
  /** The places to build. Default: all places. */
  readonly places?: readonly Place[] | undefined;
};

type NamedRun = { readonly group: Place; readonly name: string };

/**
 * What happened to a run that lacked tables. `made`: they were built; `left`: there was no time to build them; `why`:
 * the reason, in words.
 */
export type TableOutcome =
  | (NamedRun & { readonly kind: 'made' } & Omit<BuiltRun, 'isLeft'>)
  | (NamedRun & { readonly kind: 'left' })
  | (NamedRun & { readonly kind: 'skipped'; readonly why: string });

/**
 * Builds the missing tables of published runs; it may be repeated. Skips a damaged run, and stops at the first run that
 * is `left`.
 */
export async function* buildTables(options: TablesToBuild): AsyncGenerator<TableOutcome> {
  for (const place of options.places ?? (await placesIn(options.store)))
    for await (const outcome of tablesOf(place, options)) {
      yield outcome;
      if (outcome.kind === 'left') return;
    }
}

/**
 * Builds the tables of a place's runs: the newest first, since these are queried most. Files that a run shares with the
 * next or the previous one are copied.
 */
async function* tablesOf(place: Place, options: TablesToBuild): AsyncGenerator<TableOutcome> {
  const { store, signal, isOver } = options;
  const named = (name: string): NamedRun => ({ group: place, name });
  const list = () => listRuns({ store, place, signal });
  const runs = await messageIfDamaged(() => publishedRuns(store, place, { signal }));
  if (typeof runs === 'string') return yield { ...named('latest.json'), kind: 'skipped', why: runs };
  const built = await builtNames(place, options);
  for (const [index, run] of runs.entries()) {
    if (isOver()) return yield { ...named(run.run), kind: 'left' };
    const isLatest = index === 0;
    const neighbours = [runs[index - 1], runs[index + 1]].flatMap((each) => each?.run ?? []);
    const ofRun = { run, isLatest, neighbours, built: built.get(run.run) ?? new Set<string>() };
    const files = await messageIfDamaged(async () => {
      const found = await buildRun({ ...options, ...ofRun, place });
      if (isLatest && found?.isLeft !== true) {
        await pointAtLatest(store, sourceOf(place));
        if (found !== undefined && found.files > 0) await list();
      }
      return found;
    });
    if (typeof files === 'string') yield { ...named(run.run), kind: 'skipped', why: files };
    if (typeof files !== 'object') continue;
    const { isLeft, records, bytes, other } = files;
    if (files.files > 0) yield { ...named(run.run), kind: 'made', files: files.files, records, bytes, other };
    if (isLeft) return yield { ...named(run.run), kind: 'left' };
  }
  // Listed again, since older runs now have their tables.
  const why = await messageIfDamaged(list);
  if (why !== undefined) yield { ...named('runs'), kind: 'skipped', why };
}

/** The names of the files in the Parquet folders of a place's runs, by run. */
async function builtNames(place: Place, { store, signal }: TablesToBuild) {
  const found = new Map<string, Set<string>>();
  const folder = `parquet/${place}/`;
  for await (const { key } of store.list(folder, { signal })) {
    const [, run, name = ''] = /^dt=[^/]+\/run=([^/]+)\/([^/]+)$/.exec(key.slice(folder.length)) ?? [];
    if (run !== undefined) found.set(run, (found.get(run) ?? new Set()).add(name));
  }
  return found;
}

async function messageIfDamaged<T>(work: () => Promise<T>): Promise<T | string> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoredObjectError) return error.message;
    throw error;
  }
}

/**
 * Schema of the event that starts the function. `published`: the key of a `latest.json` that was stored; only its place
 * is built. Default: all places.
 */
const writeTablesEvent = z.object({ published: z.optional(z.string()) });

/** Maximum skipped runs to list in a line of the log. */
const MAX_SKIPPED = 20;

/**
 * Runs `buildTables` until time is up. Returns what it built, the first skipped runs and why, and the run that is left.
 */
export async function writeTables(event: unknown, options: Omit<TablesToBuild, 'places' | 'isSparse'>) {
  const { published } = writeTablesEvent.parse(event);
  const place = parsePlace(published?.split('/').at(-2) ?? '');
  const written = { made: 0, files: 0, records: 0 };
  const skipped: string[] = [];
  let left: NamedRun | undefined;
  const places = place && [place];
  for await (const outcome of buildTables({ ...options, places, isSparse: true })) {
    const { group, name, kind } = outcome;
    if (kind === 'left') left = { group, name };
    if (kind === 'skipped' && skipped.length < MAX_SKIPPED) skipped.push(`${group} ${name}: ${outcome.why}`);
    if (kind !== 'made') continue;
    written.made += 1;
    written.files += outcome.files;
    written.records += outcome.records;
  }
  return { ...written, skipped, left };
}

type RunToBuild = {
  readonly store: Store;
  readonly place: Place;
  readonly run: PublishedRun;
  readonly isLatest: boolean;
  /** The names of the files in the run's Parquet folder. */
  readonly built: ReadonlySet<string>;
  /** Other runs that may have parts with the same bytes. The files of such parts are copied. */
  readonly neighbours: readonly string[];
  /** The Glue partitions of published runs. Default: no partitions. */
  readonly partitions?: NonNullable<ReturnType<typeof openPartitions>> | undefined;
  /**
   * Whether to rely on the record that a run is complete (`markOf`). Default: false: each file is checked, and the
   * partitions of narrowed snapshots are added again.
   */
  readonly isSparse?: boolean | undefined;
  /** Called after each part. If it returns true, building stops. */
  readonly isOver: () => boolean;
  /** Called with what failed, in words, and why. */
  readonly warn: (what: string, reason: Error) => void;
  readonly signal?: AbortSignal | undefined;
};

/** What was built. `other`: the number of members in `_other`; `isLeft`: there is more to build. */
type BuiltRun = {
  readonly files: number;
  readonly records: number;
  readonly bytes: number;
  readonly other: number;
  readonly isLeft: boolean;
};

/**
 * The name of the record that a run is complete: all Parquet files (`files`: their number) and uses are built, and its
 * partitions are added. If the columns change, the name changes too.
 */
function markOf({ place, partitions }: Pick<RunToBuild, 'place' | 'partitions'>, files: number): string {
  const format = `${parquetFormat(sourceDefinitions[sourceOf(place)].columns)}-${USES_FORMAT}`;
  return `_tables-${format}-${files}${partitions === undefined ? '' : '-in-glue'}.json`;
}

type CurrentRun = RunToBuild & { readonly at: Run };

/** The result of building a run. `isChanged`: an object was stored. */
type Outcome = BuiltRun & { readonly isChanged: boolean };

const NOTHING: Outcome = { files: 0, records: 0, bytes: 0, other: 0, isLeft: false, isChanged: false };

/**
 * Builds what a published run lacks: its Parquet files, its uses, its partitions, and the tag of a run that was
 * replaced. Several processes may do so at the same time, since the bytes depend only on the parts. Returns undefined
 * if the run no longer exists. Throws `StoredObjectError` if a part is damaged.
 */
export async function buildRun(options: RunToBuild): Promise<BuiltRun | undefined> {
  const { run, built, isSparse = false } = options;
  const files = [...built].filter((name) => name.endsWith('.parquet')).length;
  const current = { ...options, at: runOfId(run.run) };
  const isDone = isSparse && built.has(markOf(options, files));
  const outcome = isDone ? NOTHING : await unlessGone(current);
  if (outcome?.isLeft === false) await tagRun(current, outcome.isChanged);
  return outcome;
}

/** Builds the files of a run. If the run has been removed in the meantime, deletes them again. */
async function unlessGone(current: CurrentRun): Promise<Outcome | undefined> {
  const built = await buildFiles(current).catch((error: unknown) => {
    if (error instanceof StoredObjectError) return error;
    throw error;
  });
  if ((await currentManifest(current)) === undefined) return await deleteBuilt(current);
  if (built instanceof Error) throw built;
  return built;
}

async function buildFiles(current: CurrentRun): Promise<Outcome | undefined> {
  const { store, place, at, run, partitions, isSparse = false, isOver } = current;
  const manifest = await currentManifest(current);
  if (manifest === undefined) return undefined;
  const folder = parquetFolder(place, at);
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes);
  const recorded: ParquetFile[] = [...(await readBuilt(store, place, at))];
  const files = await openPartFiles(current);
  const parts = manifest.parts.map((part, index) => {
    const key = `${folder}${fileName(index)}`;
    const known = recorded[index];
    const isBuilt = known?.of === parquetIdOf(place, part) && sizes.get(key) === known.bytes;
    sizes.delete(key);
    return { part, index, key, isBuilt };
  });
  const lacking = parts.filter(({ part, isBuilt }) => !isBuilt || files.lacksUses(part));
  const mark = markOf(current, parts.length);
  const isMarked = current.built.has(mark);
  const counts = { ...NOTHING, files: 0, isChanged: lacking.length > 0 || !isMarked };
  // New objects lack the tag, so first delete the record that all objects have it.
  if (counts.isChanged && run.isTagged) await deleteTaggedMark({ store, place, run: at });
  for (const { part, index, key, isBuilt } of lacking) {
    counts.files += 1;
    if (!isBuilt) {
      const { body, records, other, sha256 = hash('sha256', body) } = await files.parquet(part);
      const bytes = body.byteLength;
      await store.put(key, body, { contentType: 'application/vnd.apache.parquet', sha256 });
      recorded[index] = { of: parquetIdOf(place, part), records, bytes, sha256, other };
      await recordBuilt(store, place, at, recorded.slice(0, parts.length));
      counts.records += records;
      counts.bytes += bytes;
      counts.other += other;
    }
    if (files.lacksUses(part)) await files.uses(part);
    if (isOver()) return { ...counts, isLeft: true };
  }
  for (const key of sizes.keys()) if (key.endsWith('.parquet')) await store.delete(key);
  const isAdded = !counts.isChanged && (isSparse || isSource(place));
  if (!isAdded) await partitions?.add(place, at, manifest);
  if (!isMarked) await store.put(`${folder}${mark}`, printStored({ run: at.id }));
  return counts;
}

/** The manifest of a run; undefined if it no longer exists, or is being removed. */
async function currentManifest({ store, place, at, run }: CurrentRun): Promise<Manifest | undefined> {
  if ((await readLatest(store, place))?.removed.includes(at.id)) return undefined;
  try {
    return await manifestOf(store, run.manifest, { place, run: at.id });
  } catch (error) {
    if (error instanceof StoredObjectError && error.kind === 'missing') return undefined;
    throw error;
  }
}

async function deleteBuilt({ store, place, at, partitions }: CurrentRun): Promise<undefined> {
  await partitions?.remove(place, at);
  for (const prefix of [parquetFolder(place, at), usesFolder(place, at)])
    for (const { key } of await Array.fromAsync(store.list(prefix))) await store.delete(key);
}

/** Tags a replaced run, or removes the tag from the newest run. If the store refuses that, it only warns. */
async function tagRun(
  { store, place, at, run, isLatest, warn }: CurrentRun,
  isChanged: boolean,
): Promise<void> {
  const is = isLatest ? 'latest' : 'replaced';
  try {
    await updateRunTags({ store, place, run: at, is, known: run, isChanged });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    warn(`run ${at.id} of ${place} could not be tagged as ${isLatest ? 'the newest' : 'replaced'}`, error);
  }
}

/** The folder of the uses of a run. Ends in a slash. */
const usesFolder = (place: Place, run: Run) => `parquet/uses/${publishedFolder(place, run)}`;

/**
 * Opens a builder of the Parquet and the uses of a run's parts. If a neighbour has the same part, its files are copied.
 */
async function openPartFiles({ store, place, at, neighbours, signal }: CurrentRun) {
  const source = sourceOf(place);
  const usesBuilder = hasLinks(source) ? createUsesBuilder(source) : undefined;
  const buildParquet = once(async () =>
    createParquetBuilder(sourceDefinitions[source].columns, usesBuilder?.add),
  );
  const known = once(() => filesOf(store, place, neighbours.map(runOfId)));
  const stored = new Set<string>();
  if (hasLinks(source)) for await (const { key } of store.list(usesFolder(place, at))) stored.add(key);
  const lacksUses = (part: Part) => hasLinks(source) && !stored.has(usesKey(part));

  async function putUses(part: Part, body: Uint8Array): Promise<void> {
    await store.put(usesKey(part), body, { contentType: 'application/octet-stream' });
    stored.add(usesKey(part));
  }

  return {
    lacksUses,
    /**
     * Builds the Parquet of a part, ready to be stored. If its uses are missing, they are computed from the same lines,
     * and stored.
     */
    async parquet(part: Part): Promise<BuiltParquet & Partial<Pick<ParquetFile, 'sha256'>>> {
      const equal = (await known()).parquet.get(parquetIdOf(place, part));
      const body = await intactParquet(store, equal);
      if (equal !== undefined && body !== undefined) return { ...equal, body };
      const build = await buildParquet();
      const built = await build({ store, part, signal });
      const uses = usesBuilder?.end();
      if (uses !== undefined && lacksUses(part)) await putUses(part, uses);
      return built;
    },
    async uses(part: Part): Promise<void> {
      const equal = (await known()).uses.get(contentOf(usesKey(part)));
      // Copied without a check, since readers build damaged uses again.
      const copied = equal === undefined ? undefined : await store.get(equal);
      if (copied !== undefined) await putUses(part, copied.body);
      else if (hasLinks(source)) await usesOfPart({ store, source, part, signal });
    },
  };
}

/** The files of runs: the Parquet files by the id of what they were built from, and the keys of uses by `contentOf`. */
async function filesOf(store: Store, place: Place, runs: readonly Run[]) {
  const parquet = new Map<string, Awaited<ReturnType<typeof readBuilt>>[number]>();
  const uses = new Map<string, string>();
  for (const run of runs) {
    for (const file of await readBuilt(store, place, run)) parquet.set(file.of, file);
    for await (const { key } of store.list(usesFolder(place, run))) uses.set(contentOf(key), key);
  }
  return { parquet, uses };
}

/** What identifies the content of stored uses, from their key: the hash of the part, and the format. */
const contentOf = (key: string): string =>
  key.replace(/^.*\/part-\d+-([0-9a-f]+)(?:-\d+)?-([0-9a-f]+)\./, '$1 $2 ');

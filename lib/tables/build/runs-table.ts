import { readAhead } from '../../base/index.ts';
import { parseJson } from '../../base/json/index.ts';
import { lastRuns } from '../../model/index.ts';
import { manifestOf, type PublishedRun, publishedRuns, readLatest } from '../../snapshot/history/index.ts';
import {
  latestParquetFolder,
  type Place,
  runOfId,
  type Source,
  sourceOf,
} from '../../snapshot/sources/index.ts';
import { type Store, type StoredObject, unlessDamaged, updateObject } from '../../store/index.ts';
import { storedTables } from '../catalog/tables.ts';
import { parquetFormat } from '../parquet/hive-type.ts';
import { parquetOfRun } from '../parquet/part-files.ts';

type RunAt = Pick<PublishedRun, 'run' | 'manifest'>;

type RunsToList = {
  readonly store: Store;
  readonly place: Place;
  readonly runs: readonly RunAt[];
  /** Called with what is missing or damaged, in words. Such runs are left out. */
  readonly report: (fault: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/** A row of the table `runs`. `of`: identifies what it was built from. Values that are not known yet are null. */
type RunRow = Readonly<Record<keyof typeof storedTables.runs.columns, unknown>> & { readonly of: string };

const READ_AHEAD = 16;

/** The published runs of a place as rows: the stored rows, or rows computed from the manifests. */
export async function* rowsOfRuns(options: RunsToList): AsyncGenerator<RunRow> {
  const { store, place, runs: items, report, signal } = options;
  const orReport = unlessDamaged(report);
  const latest = await readLatest(store, place).catch(orReport);
  const stored = await storedRows(store, place);
  const read = async (at: RunAt) => stored.get(rowIdOf(at)) ?? (await rowOf(options, at).catch(orReport));
  for await (const row of readAhead({ items, concurrency: READ_AHEAD, signal, read }))
    if (row !== undefined) yield { ...row, latest: row.run === latest?.run };
}

/** Stores the rows of a place, which Athena reads, unless they are already stored. */
export const listRuns = (options: Omit<RunsToList, 'report' | 'runs'>): Promise<void> =>
  replaceIfUnchanged(options.store, keyOf(options.place), 'application/x-ndjson', async () => {
    const runs = await publishedRuns(options.store, options.place, options);
    if (runs.length === 0) return undefined;
    const rows = await Array.fromAsync(rowsOfRuns({ ...options, runs, report: () => undefined }));
    return Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  });

const keyOf = (place: Place) => `${storedTables.runs.folder}${place}.json`;

/** Identifies what a row is built from: the columns, and the manifest. */
const rowIdOf = ({ manifest }: RunAt) => `${parquetFormat(storedTables.runs.columns)} ${manifest}`;

/** The stored rows by their `of`, without rows of runs whose Parquet was incomplete: these are built again. */
async function storedRows(store: Store, place: Place): Promise<ReadonlyMap<string, RunRow>> {
  const body = (await store.get(keyOf(place)))?.body.toString() ?? '';
  try {
    const rows = body.split('\n').flatMap((line) => (line === '' ? [] : [parseJson(line) as RunRow]));
    return new Map(rows.flatMap((row) => (row.parquetbytes === null ? [] : [[row.of, row]])));
  } catch {
    return new Map();
  }
}

async function rowOf({ store, place }: RunsToList, at: RunAt): Promise<RunRow> {
  const manifest = await manifestOf(store, at.manifest, { place, run: at.run });
  const { startedAt, finishedAt, changes, parts, calls } = manifest;
  const parquet = await parquetOfRun(store, place, manifest);
  const { run, records, consistency, degradedPages = 0, forced, refused, platform } = manifest;
  const { requests, retries, throttled } = calls;
  const { against = null, added = null, removed = null, changed = null } = changes ?? {};
  return {
    of: rowIdOf(at),
    place,
    source: sourceOf(place),
    run,
    dt: runOfId(run).startedAt.slice(0, 10),
    latest: false,
    startedat: startedAt,
    finishedat: finishedAt,
    records,
    missing: manifest.missing.length,
    consistency,
    degraded_pages: degradedPages,
    against,
    added,
    removed,
    changed,
    requests,
    retries,
    throttled,
    forced,
    refused,
    platform,
    parts: parts.length,
    bytes: totalOf(parts, 'bytes'),
    parquetbytes: totalOf(parquet, 'bytes'),
    other: totalOf(parquet, 'other'),
  };
}

const totalOf = <Name extends string>(
  files: readonly (Readonly<Record<Name, number>> | undefined)[],
  name: Name,
): number | null =>
  files.reduce<number | null>(
    (sum, file) => (sum === null || file === undefined ? null : sum + file[name]),
    0,
  );

/**
 * Points the table of a source's latest run at that run's Parquet files or, if there is no whole run, at the Parquet
 * files of its narrowed places. `symlink.txt` lists the addresses of the files, one a line. Does nothing in a directory
 * store, since only Athena reads the list.
 */
export async function pointAtLatest(store: Store, source: Source): Promise<void> {
  if (!store.location.startsWith('s3://')) return;
  const key = `${latestParquetFolder(source)}symlink.txt`;
  await replaceIfUnchanged(store, key, 'text/plain', () => addressesOfLatest(store, source));
}

/**
 * Replaces an object by the result of `bodyOf`. If the object has changed in the meantime, computes the result again,
 * so that a slow process never overwrites a newer object. Does nothing if the result equals the object, or is
 * undefined.
 */
async function replaceIfUnchanged(
  store: Store,
  key: string,
  contentType: string,
  bodyOf: () => Promise<Buffer | undefined>,
): Promise<void> {
  const decide = async (before: StoredObject | undefined) => {
    const body = await bodyOf();
    return body !== undefined && before?.body.equals(body) ? undefined : body;
  };
  await updateObject(store, key, decide, { contentType });
}

/**
 * The addresses of the latest runs' files. Undefined, so that the list stays unchanged, if one of these runs is damaged
 * or does not have all of its Parquet yet.
 */
async function addressesOfLatest(store: Store, source: Source): Promise<Buffer | undefined> {
  let isSound = true;
  const { runs } = await lastRuns(store, [source], () => {
    isSound = false;
  });
  const addresses: string[] = [];
  for (const { place, manifest } of runs)
    for (const file of await parquetOfRun(store, place, manifest)) {
      if (file === undefined) return undefined;
      addresses.push(`${store.location}/${file.key}\n`);
    }
  return isSound && runs.length > 0 ? Buffer.from(addresses.join('')) : undefined;
}

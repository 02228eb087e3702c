import { once } from '../base/index.ts';
import { type Manifest, manifestOf, placesIn, readLatest } from '../snapshot/history/index.ts';
import { linkedTo, type Place, type Source, sourceDefinitions, sourceOf } from '../snapshot/sources/index.ts';
import { type Store, unlessDamaged } from '../store/index.ts';
import {
  buildParquet,
  intactParquet,
  parquetOfRun,
  type RowGroup,
  rowGroupsOf,
} from '../tables/parquet/index.ts';
import { hasLinks, usesOfPart } from './part-uses.ts';

/** The last published run of a place. `key`: the key of its manifest. */
export type LastRun = {
  readonly place: Place;
  readonly source: Source;
  readonly manifest: Pick<
    Manifest,
    'run' | 'platform' | 'startedAt' | 'records' | 'parts' | 'order' | 'missing' | 'selection'
  >;
  readonly key: string;
};

/**
 * The last published run of each source; for a source that has none, the last runs of its narrowed places. `addFault`:
 * called with what is missing or damaged, in words. Default: `StoredObjectError` is thrown.
 */
export async function lastRuns(
  store: Store,
  wanted: readonly Source[],
  addFault?: (fault: string) => void,
): Promise<{ readonly runs: readonly LastRun[] }> {
  const orReport = <T>(place: Place, read: Promise<T>): Promise<T | undefined> =>
    addFault === undefined
      ? read
      : read.catch(
          unlessDamaged((fault) => addFault(fault.startsWith(`${place}: `) ? fault : `${place}: ${fault}`)),
        );
  async function lastOf(place: Place): Promise<readonly LastRun[]> {
    const latest = await orReport(place, readLatest(store, place));
    if (latest === undefined) return [];
    const { run, manifest: key } = latest;
    const manifest = await orReport(place, manifestOf(store, key, { place, run }));
    return manifest === undefined ? [] : [{ place, source: sourceOf(place), manifest, key }];
  }
  const places = once(() => placesIn(store));
  const runs: LastRun[] = [];
  for (const source of wanted) {
    const whole = await lastOf(source);
    runs.push(...whole);
    if (whole.length > 0) continue;
    for (const place of await places())
      if (sourceOf(place) === source && place !== source) runs.push(...(await lastOf(place)));
  }
  return { runs };
}

/** The columns of one part. `count`: its records; `records`: reads its Parquet. */
type PartColumns = {
  readonly key: string;
  readonly count: number;
  readonly records: () => Promise<Uint8Array>;
  /** Reads the uses that its records state; undefined if records of this source never state uses. */
  readonly uses: () => Promise<Awaited<ReturnType<typeof usesOfPart>> | undefined>;
};

/** The columns of a source's runs. */
export type SourceColumns = {
  /** Whether a thing without a record certainly does not exist: see the function `isWhole`. */
  readonly isWhole: boolean;
  /** When the first of its runs began, in epoch milliseconds. */
  readonly startedAtMs: number;
  readonly parts: readonly PartColumns[];
};

/** The columns of runs, by source; sources without a published run are absent. */
export type ModelColumns = Readonly<Partial<Record<Source, SourceColumns>>>;

type RunsToRead = {
  readonly store: Store;
  readonly runs: readonly LastRun[];
  readonly signal?: AbortSignal | undefined;
};

/**
 * The columns of runs, which are read when they are needed: from stored Parquet, or from the lines if it is missing.
 * Uses that had to be computed from the lines are stored. Reading throws `StoredObjectError` for a damaged part.
 */
export function columnsOfRuns(options: RunsToRead): ModelColumns {
  const found: Partial<Record<Source, SourceColumns>> = {};
  for (const run of options.runs) {
    const { parts = [], startedAtMs = Number.POSITIVE_INFINITY } = found[run.source] ?? {};
    found[run.source] = {
      isWhole: isWhole(run),
      startedAtMs: Math.min(startedAtMs, Date.parse(run.manifest.startedAt)),
      parts: [...parts, ...partColumnsOf(run, options)],
    };
  }
  return found;
}

/**
 * Whether a thing without a record in the run certainly does not exist: the run covers the whole source, and each id
 * that it could not read no longer exists.
 */
function isWhole({ place, source, manifest }: LastRun): boolean {
  const isOfAll =
    sourceDefinitions[source].ids === undefined || linkedTo(source, manifest.selection) !== undefined;
  return place === source && isOfAll && manifest.missing.every(({ status }) => GONE_STATUSES.has(status));
}

/** The statuses that show that a thing no longer exists: 404 (not found) and 410 (archived). */
const GONE_STATUSES: ReadonlySet<number> = new Set([404, 410]);

function partColumnsOf({ place, source, manifest }: LastRun, { store, signal }: RunsToRead): PartColumns[] {
  const stored = once(() => parquetOfRun(store, place, manifest));
  return manifest.parts.map((part, index) => ({
    key: part.key,
    count: part.records,
    records: async () =>
      (await intactParquet(store, (await stored())[index])) ??
      (await buildParquet({ store, part, signal }, sourceDefinitions[source].columns)).body,
    uses: async () => (hasLinks(source) ? await usesOfPart({ store, source, part, signal }) : undefined),
  }));
}

/**
 * The row groups of a source; `start`: the number of records before the group. Memory holds one file and its columns.
 */
export async function* groupsOf(
  source: SourceColumns | undefined,
): AsyncGenerator<{ readonly group: RowGroup; readonly start: number }> {
  let start = 0;
  for (const { key, records } of source?.parts ?? [])
    for await (const group of rowGroupsOf(key, await records())) {
      yield { group, start };
      start += group.rows;
    }
}

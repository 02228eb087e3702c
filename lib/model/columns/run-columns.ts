import { once } from '../../base/index.ts';
import { type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import { type Store, unlessDamaged } from '../../store/index.ts';
import { parquetOfRun, soundParquet } from '../../tables/made/made-files.ts';
import { makeParquet } from '../../tables/made/make-parquet.ts';
import type { AddFault, LastRun } from '../stored/last-runs.ts';
import { isStating, type PartUses, usesOfPart } from '../uses/part-uses.ts';
import { type RowGroup, rowGroupsOf } from './read-columns.ts';

/** A part as columns. What is missing or damaged is undefined, once it was reported. */
type PartColumns = {
  readonly key: string;
  /** How many records it has. */
  readonly count: number;
  /** Its records as Parquet. */
  readonly records: () => Promise<Uint8Array | undefined>;
  /** What they state: nothing for a source whose records state no uses. */
  readonly uses: () => Promise<PartUses | undefined>;
};

/** The runs of a source. */
export type SourceColumns = {
  /** True if what they lack does not exist: one run of the whole source, with nothing missing. */
  readonly isWhole: boolean;
  readonly parts: readonly PartColumns[];
};

/** The columns of runs; a source of which nothing is published is absent. */
export type ModelColumns = Readonly<Partial<Record<Source, SourceColumns>>>;

export type RunsToRead = {
  readonly store: Store;
  readonly runs: readonly LastRun[];
  /** Receives what is missing or damaged, in words: the rest is read. Default: it is thrown. */
  readonly addFault?: AddFault | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The columns of runs: what is stored of them, or else what their lines give. Uses that were not stored are. */
export function columnsOfRuns(options: RunsToRead): ModelColumns {
  const found: Partial<Record<Source, SourceColumns>> = {};
  for (const run of options.runs) {
    const before = found[run.source]?.parts ?? [];
    found[run.source] = { isWhole: isWhole(run), parts: [...before, ...partsOf(run, options)] };
  }
  return found;
}

/** True if what a run lacks does not exist, as far as a snapshot can say: it is of the whole source, and lacks nothing. */
function isWhole({ place, source, manifest }: LastRun): boolean {
  const { ids } = sourceDefinitions[source];
  const isOfAll = ids === undefined || ids.linked?.from === manifest.selection[ids.field];
  return place === source && manifest.missing.length === 0 && isOfAll;
}

function partsOf(
  { place, source, manifest }: LastRun,
  { store, addFault, signal }: RunsToRead,
): PartColumns[] {
  const stored = once(() => parquetOfRun(store, place, manifest));
  const orFault = addFault
    ? unlessDamaged((fault) => addFault(`${place}: ${fault}`, source))
    : (error: unknown) => Promise.reject(error);
  return manifest.parts.map((part, index) => {
    const known = { store, part, signal };
    const parquet = async () =>
      (await soundParquet(store, (await stored())[index])) ??
      (await makeParquet(known, sourceDefinitions[source].columns)).body;
    return {
      key: part.key,
      count: part.records,
      records: () => parquet().catch(orFault),
      uses: async () =>
        isStating(source) ? await usesOfPart({ ...known, source }).catch(orFault) : undefined,
    };
  });
}

/** Some rows of a source, and how many of its records come before them. */
export type SourceRows = { readonly group: RowGroup; readonly start: number };

/** All row groups of a source, one after another: memory holds one file and its columns. */
export async function* groupsOf(source: SourceColumns | undefined): AsyncGenerator<SourceRows> {
  let start = 0;
  for (const { key, count, records } of source?.parts ?? []) {
    const body = await records();
    let row = start;
    for await (const group of body === undefined ? [] : rowGroupsOf(key, body)) {
      yield { group, start: row };
      row += group.rows;
    }
    start += count;
  }
}

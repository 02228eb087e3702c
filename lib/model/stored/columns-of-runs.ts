import { once } from '../../once.ts';
import type { Part } from '../../snapshot/manifest.ts';
import { type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { parquetOfRun } from '../../tables/made/made-files.ts';
import { makeParquet } from '../../tables/made/make-parquet.ts';
import type { ModelColumns, PartColumns, SourceColumns } from '../compute/columns-of.ts';
import type { LastRun } from './last-runs.ts';
import { isStating } from './read-runs.ts';
import { storedParquet, usesKey, usesOfPart } from './uses-of-part.ts';

export type RunsToRead = {
  readonly store: Store;
  readonly runs: readonly LastRun[];
  readonly signal?: AbortSignal | undefined;
};

/** The columns of runs: what is stored of them, or else what their lines give. Uses that were not stored are. */
export function columnsOfRuns({ store, runs, signal }: RunsToRead): ModelColumns {
  const found: Partial<Record<Source, SourceColumns>> = {};
  for (const run of runs) {
    const stored = once(() => parquetOfRun(store, run.place, run.manifest));
    const parts = run.manifest.parts.map((part, index) =>
      columnsOfPart({ store, signal, part, key: async () => (await stored())[index]?.key }, run.source),
    );
    const before = found[run.source]?.parts ?? [];
    found[run.source] = { isWhole: isWhole(run), parts: [...before, ...parts] };
  }
  return found;
}

/** True if what a run lacks does not exist, as far as a snapshot can say: it is of the whole source, and lacks nothing. */
function isWhole({ place, source, manifest }: LastRun): boolean {
  const { ids } = sourceDefinitions[source];
  const isOfAll = ids === undefined || ids.linked?.from === manifest.selection[ids.field];
  return place === source && manifest.missing.length === 0 && isOfAll;
}

/** A part, and where its Parquet is, if it is stored. */
type PartToRead = Omit<RunsToRead, 'runs'> & {
  readonly part: Part;
  readonly key: () => Promise<string | undefined>;
};

function columnsOfPart({ store, signal, part, key }: PartToRead, source: Source): PartColumns {
  const { columns } = sourceDefinitions[source];
  const records = {
    key: part.key,
    read: async () =>
      (await storedParquet(store, await key())) ?? (await makeParquet({ store, part, signal }, columns)).body,
  };
  if (!isStating(source)) return { records };
  return { records, uses: { key: usesKey(part), read: () => usesOfPart({ store, source, part, signal }) } };
}

import type { Part } from '../../snapshot/manifest.ts';
import { makeParquet } from '../../snapshot/publish/make-parquet.ts';
import { type Source, sourceDefinitions } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { parquetFormat } from '../../tables/parquet/parquet-format.ts';
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
    const parts = run.manifest.parts.map((_, index) => columnsOfPart({ store, signal }, run, index));
    const before = found[run.source]?.parts ?? [];
    found[run.source] = { isWhole: isWhole(run), parts: [...before, ...parts.flat()] };
  }
  return found;
}

/** True if what a run lacks does not exist, as far as a snapshot can say: it is of the whole source, and lacks nothing. */
function isWhole({ place, source, manifest }: LastRun): boolean {
  const { ids } = sourceDefinitions[source];
  const isOfAll = ids === undefined || ids.linked?.from === manifest.selection[ids.field];
  return place === source && manifest.missing.length === 0 && isOfAll;
}

function columnsOfPart(
  { store, signal }: Omit<RunsToRead, 'runs'>,
  { source, manifest }: LastRun,
  index: number,
): readonly PartColumns[] {
  const part: Part | undefined = manifest.parts[index];
  if (part === undefined) return [];
  const { columns } = sourceDefinitions[source];
  const isCurrent = manifest.parquet?.format === parquetFormat(columns);
  const key = isCurrent ? manifest.parquet?.parts[index]?.key : undefined;
  const records = {
    key: key ?? part.key,
    read: async () =>
      (await storedParquet(store, key)) ?? (await makeParquet({ store, part, signal }, columns)).body,
  };
  if (!isStating(source)) return [{ records }];
  return [{ records, uses: { key: usesKey(part), read: () => usesOfPart({ store, source, part, signal }) } }];
}

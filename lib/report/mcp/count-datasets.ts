import { datasetsUsed, statingFields } from '../../model/rules/index.ts';
import type { LastRun } from '../../model/stored/last-runs.ts';
import { createRecordFields } from '../../snapshot/changes/record-fields.ts';
import type { Store } from '../../store/store.ts';
import { recordsIn } from './stored-records.ts';
import { ToolError } from './tool.ts';

type DatasetCounts = { cards: number; calculations: number };

/** More than an instance has; each is held in memory. */
const MOST_DATASETS = 100_000;

/**
 * How many cards are on each dataset, and how many calculations link to it, of those that are wanted. Throws `ToolError`
 * if there are more than memory should hold.
 */
export async function countDatasets(
  search: { readonly store: Store; readonly runs: readonly LastRun[]; readonly signal: AbortSignal },
  isWanted: (id: string) => boolean,
): Promise<ReadonlyMap<string, Readonly<DatasetCounts>>> {
  const counts = new Map<string, DatasetCounts>();
  const readFields = createRecordFields(statingFields.calculations);
  function count(id: string, kind: keyof DatasetCounts): void {
    const known = counts.get(id) ?? (isWanted(id) ? { cards: 0, calculations: 0 } : undefined);
    if (known === undefined) return;
    known[kind] += 1;
    counts.set(id, known);
    if (counts.size > MOST_DATASETS)
      throw new ToolError(`more than ${MOST_DATASETS} datasets match: search for more of their id`);
  }
  for (const { source, manifest } of search.runs) {
    if (source !== 'cards' && source !== 'calculations') continue;
    for await (const { key, reader } of recordsIn(manifest.parts, { ...search, source })) {
      if (source === 'cards') count(key.slice(0, Math.max(0, key.lastIndexOf('/'))), 'cards');
      else for (const id of datasetsUsed(readFields(reader))) count(id, 'calculations');
    }
  }
  return counts;
}

import type { Store } from '../../store/store.ts';
import { sourceOf } from '../keys.ts';
import type { Scan } from '../scan.ts';
import type { RunToScan } from '../sources/source-definition.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { Checkpoint } from './checkpoint.ts';
import { readStoredIds } from './stored-ids.ts';

export type ScanParts = Omit<RunToScan, 'ids'> & { readonly store: Store };

/** The scan of a run according to its checkpoint: the same for a new run and for one that is resumed. */
export async function scanOfRun(
  { source: place, run, selection }: Checkpoint,
  { store, ...parts }: ScanParts,
): Promise<Scan<unknown>> {
  const definition = sourceDefinitions[sourceOf(place)];
  const ids = definition.ids === undefined ? [] : await readStoredIds(store, place, run);
  return definition.openScan(selection, { ...parts, ids });
}

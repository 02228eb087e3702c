import type { Store } from '../../store/index.ts';
import { sourceOf } from '../keys.ts';
import type { Scan } from '../scan.ts';
import type { RunToScan } from '../sources/source-definition.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { Checkpoint } from './checkpoint.ts';
import { idsOfRun } from './ids-of-run.ts';

export type ScanParts = Omit<RunToScan, 'ids'> & {
  readonly store: Store;
  /** Stops the search for ids that another source links to; it can be resumed. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * The scan of a run according to its checkpoint: the same for a new run and for one that is resumed. Ids that another
 * source links to are found first, unless they have been.
 */
export async function scanOfRun(
  checkpoint: Checkpoint,
  { store, signal, ...parts }: ScanParts,
): Promise<Scan<unknown>> {
  const ids = await idsOfRun(checkpoint, { store, signal });
  return sourceDefinitions[sourceOf(checkpoint.source)].openScan(checkpoint.selection, { ...parts, ids });
}

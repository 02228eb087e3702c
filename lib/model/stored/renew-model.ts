import { sources } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { computeModel } from '../compute/compute-model.ts';
import { columnsOfRuns } from './columns-of-runs.ts';
import { lastRuns } from './last-runs.ts';
import { isBehind, readModel, type StoredModel } from './stored-model.ts';
import { writeModel } from './write-model.ts';

export type ModelToRenew = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Receives what is missing or damaged, in words. */
  readonly addFault: (fault: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The model of the last published runs: what is stored if it is over these, or else computed and stored. If another writer
 * comes first, it looks again. Throws `StoredObjectError` if a run or the model is damaged.
 */
export async function renewModel(options: ModelToRenew): Promise<StoredModel> {
  const { store, addFault, signal } = options;
  for (;;) {
    const before = await readModel(store);
    const { runs } = await lastRuns(store, sources, addFault);
    if (before !== undefined && !isBehind(before.model, runs)) return before.model;
    const model = await computeModel(columnsOfRuns({ store, runs, signal }));
    const written = await writeModel({ ...options, model, runs, etag: before?.etag });
    if (written !== undefined) return written;
  }
}

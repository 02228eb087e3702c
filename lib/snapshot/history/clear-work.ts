import { type Store, StoredObjectError, StoreError } from '../../store/index.ts';
import { publishedRuns } from '../changes/published-runs.ts';
import { type Place, workFolder } from '../keys.ts';

/** Called with what could not be done after a publication, in words, and with the reason. */
export type Warn = (what: string, reason: Error) => void;

/**
 * Deletes what published runs have left under `work/` in a store of files: S3 has a lifecycle. What cannot be deleted costs
 * a warning: the runs are published, and the next one deletes it. Another process that publishes one of these runs at the
 * moment fails; it is published all the same.
 */
export async function clearAfter(store: Store, place: Place, warn: Warn): Promise<void> {
  if (store.fileOf === undefined) return;
  try {
    const left = new Set<string>();
    for await (const folder of store.folders(`work/${place}/`)) left.add(folder);
    for (const { run } of left.size === 0 ? [] : await publishedRuns(store, place))
      if (left.has(workFolder(place, { id: run }).slice(0, -1))) await deleteWork(store, place, run);
  } catch (error) {
    if (!(error instanceof StoreError || error instanceof StoredObjectError)) throw error;
    warn(`what published runs of ${place} have left under work/ could not be deleted`, error);
  }
}

/** Deletes the work folder of a run. What others could resume or publish it by goes first: it is listed first, by its `_`. */
export async function deleteWork(store: Store, place: Place, run: string): Promise<void> {
  for await (const { key } of store.list(workFolder(place, { id: run }))) await store.delete(key);
}

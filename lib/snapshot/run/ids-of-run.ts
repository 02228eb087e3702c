import type { Store } from '../../store/index.ts';
import { sourceOf, workFolder } from '../keys.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { Checkpoint } from './checkpoint.ts';
import { linkedIds } from './linked-ids.ts';
import { findStoredIds, missingIds, storeIds } from './stored-ids.ts';

export type FindIdsOptions = {
  readonly store: Store;
  /** Asked after each piece of work, which takes seconds: true ends the slice. */
  readonly isOver: () => boolean;
  readonly signal?: AbortSignal | undefined;
};

/** The part of a checkpoint that says where the ids of its run are. */
type RunWithIds = Pick<Checkpoint, 'source' | 'run' | 'linked'>;

/**
 * The ids that a run reads one by one; none for a source that is not read so. Ids that another source links to are found
 * first, and stored; undefined if the slice is over before that, and then the next slice continues there. Throws
 * `StoredObjectError` if the ids, or what they are taken from, are missing or damaged.
 */
export async function findIdsOfRun(
  { source: place, run, linked }: RunWithIds,
  { store, isOver, signal }: FindIdsOptions,
): Promise<readonly string[] | undefined> {
  const { ids: idsOf } = sourceDefinitions[sourceOf(place)];
  if (idsOf === undefined) return [];
  const stored = await findStoredIds(store, place, run);
  if (stored !== undefined) return stored;
  if (linked === undefined || idsOf.linked === undefined) throw missingIds(store, place, run);
  const { manifest } = linked;
  const folder = `${workFolder(place, { id: run })}ids/`;
  const { field } = idsOf;
  const ids = await linkedIds({ store, field, manifest, folder, ...idsOf.linked, isOver, signal });
  if (ids !== undefined) await storeIds(store, place, run, ids);
  return ids;
}

/** The same to its end. */
export async function idsOfRun(
  checkpoint: RunWithIds,
  options: Omit<FindIdsOptions, 'isOver'>,
): Promise<readonly string[]> {
  for (;;) {
    const ids = await findIdsOfRun(checkpoint, { ...options, isOver: () => false });
    if (ids !== undefined) return ids;
  }
}

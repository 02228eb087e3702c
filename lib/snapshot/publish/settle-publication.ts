import type { Store } from '../../store/store.ts';
import { changesKey, type Place, workChangesKey } from '../keys.ts';
import type { Latest, Manifest } from '../manifest.ts';
import { pointAtLatest } from './latest-parquet.ts';

/** A publication that `latest.json` names. */
export type NamedPublication = {
  readonly store: Store;
  readonly place: Place;
  readonly latest: Latest;
  readonly manifest: Manifest;
};

/**
 * Gives the changes of a publication their public key, after `latest.json` was moved to it, and points the table of the
 * latest run at its Parquet: a publisher that lost, however late, changes nothing of what won. Does nothing that is done;
 * the next publication does it if this one was stopped before.
 */
export async function settlePublication({ store, place, latest, manifest }: NamedPublication): Promise<void> {
  await pointAtLatest(store, place);
  const run = { id: latest.run, startedAt: latest.startedAt };
  if (manifest.changes === null || (await exists(store, changesKey(place, run)))) return;
  const stored = workChangesKey(place, run, manifest.changes.against);
  // They are gone if nothing was published during the whole lifetime of work/.
  if (await exists(store, stored)) await store.copy(stored, changesKey(place, run));
}

async function exists(store: Store, wanted: string): Promise<boolean> {
  for await (const { key } of store.list(wanted)) if (key === wanted) return true;
  return false;
}

import type { Store } from '../../store/store.ts';
import { type Compression, placeOf } from '../keys.ts';
import { givenIds } from '../sources/given-ids.ts';
import { type SnapshotRequest, selectionOf } from '../sources/request.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { linkedIds } from './linked-ids.ts';
import type { Saved } from './slice-progress.ts';
import { storeIds } from './stored-ids.ts';
import { startRun } from './take-run.ts';

export type BeginOptions = {
  readonly store: Store;
  readonly compression: Compression;
  /** The platform's host. */
  readonly platform: string;
  /** Where the ids of the request came from, in words. */
  readonly idsFrom?: string | undefined;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Begins a run of a request: finds its ids and stores them, so that the run can be resumed. Throws `StoredObjectError`
 * if the ids come from another source and none of its runs has been published.
 */
export async function beginRun(
  request: SnapshotRequest,
  { store, compression, platform, idsFrom, now, random, signal }: BeginOptions,
): Promise<Saved> {
  const place = placeOf(request.source, request.as);
  const found = await findIds(request, { store, signal });
  const saved = await startRun(
    { source: place, compression, platform, selection: found.selection, idsFrom: found.idsFrom ?? idsFrom },
    { store, now, random },
  );
  if (found.ids !== undefined) await storeIds(store, place, saved.checkpoint.run, found.ids);
  return saved;
}

type FoundIds = {
  readonly ids?: readonly string[];
  /** Includes the member that names the ids. Linked ids may change from night to night: only their source is named. */
  readonly selection: Readonly<Record<string, unknown>>;
  readonly idsFrom?: string;
};

async function findIds(
  request: SnapshotRequest,
  { store, signal }: Pick<BeginOptions, 'store' | 'signal'>,
): Promise<FoundIds> {
  const { selection, ids } = selectionOf(request);
  const { ids: idsOfRun } = sourceDefinitions[request.source];
  if (idsOfRun === undefined) return { selection };
  const { field, linked } = idsOfRun;
  if (ids !== undefined) return { ids, selection: { ...selection, [field]: givenIds(ids) } };
  if (linked === undefined) throw new TypeError(`${field}: expected ids, got none`);
  const found = await linkedIds({ store, field, ...linked, signal });
  return {
    ids: found.ids,
    selection: { ...selection, [field]: linked.from },
    idsFrom: `${linked.from}, run ${found.run}`,
  };
}

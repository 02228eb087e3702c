import type { Store } from '../../store/index.ts';
import { type Compression, placeOf } from '../keys.ts';
import { givenIds } from '../sources/given-ids.ts';
import { type SnapshotRequest, selectionOf } from '../sources/request.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import { linkedIds } from './linked-ids.ts';
import { storeIds } from './scan-of-run.ts';
import type { Saved } from './slice-progress.ts';
import { type NewRun, startRun } from './take-run.ts';

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
  /** Stops the search for ids that another source links to. */
  readonly signal?: AbortSignal | undefined;
};

/**
 * Begins a run of a request, and stores the ids that it reads one by one, so that it can be resumed. Throws
 * `StoredObjectError` if the ids come from another source of which no run can be read.
 */
export async function beginRun(request: SnapshotRequest, options: BeginOptions): Promise<Saved> {
  const { store, compression, platform, idsFrom } = options;
  const place = placeOf(request.source, request.as);
  const { ids, ...found } = await idsOf(request, options);
  const saved = await startRun({ source: place, compression, platform, idsFrom, ...found }, options);
  if (ids !== undefined) await storeIds(store, saved.checkpoint, ids);
  return saved;
}

/** The selection includes the member that names the ids. Linked ids may change from night to night: only their source is named. */
type IdsOfRequest = Pick<NewRun, 'selection' | 'idsFrom'> & { readonly ids?: readonly string[] };

async function idsOf(
  request: SnapshotRequest,
  { store, platform, signal }: BeginOptions,
): Promise<IdsOfRequest> {
  const { selection, ids } = selectionOf(request);
  const { ids: idsOfRun } = sourceDefinitions[request.source];
  if (idsOfRun === undefined) return { selection };
  const { field, linked } = idsOfRun;
  if (ids !== undefined) return { ids, selection: { ...selection, [field]: givenIds(ids) } };
  if (linked === undefined) throw new TypeError(`${field}: expected ids, got none`);
  const { run, ids: found } = await linkedIds({ store, platform, signal, field, ...linked });
  return {
    ids: found,
    selection: { ...selection, [field]: linked.from },
    idsFrom: `${linked.from}, run ${run}`,
  };
}

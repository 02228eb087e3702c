import type { Store } from '../../store/store.ts';
import type { Compression, Place, Source } from '../keys.ts';
import { toldIds } from '../selection.ts';
import { linkedDatasets } from '../sources/cards/linked-datasets.ts';
import { storeIds } from './stored-ids.ts';
import { startRun } from './take-run.ts';
import type { Saved } from './take-slice.ts';

/** What is to be taken. `ids`: for sources that are read id by id; `calculations`: the datasets that those link to. */
export type RequestedSnapshot = {
  readonly source: Source;
  readonly selection: Readonly<Record<string, unknown>>;
  readonly ids?: readonly string[] | 'calculations';
  /** Where given ids came from, in words. */
  readonly idsFrom?: string | undefined;
};

export type BeginOptions = {
  readonly store: Store;
  readonly compression: Compression;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Begins a run of what was asked for: finds its ids and keeps them, so that the run can be gone on with. Throws
 * `StoredObjectError` if they are to come from calculations and none have been published.
 */
export async function beginRun(
  request: RequestedSnapshot,
  place: Place,
  { store, compression, now, random, signal }: BeginOptions,
): Promise<Saved> {
  const { ids, idsFrom } = await findIds(request, store, signal);
  const selection =
    ids === undefined ? request.selection : { ...request.selection, ...toldSelection(request, ids) };
  const saved = await startRun({ source: place, compression, selection, idsFrom }, { store, now, random });
  if (ids !== undefined) await storeIds(store, place, saved.checkpoint.run, ids);
  return saved;
}

async function findIds({ ids, idsFrom }: RequestedSnapshot, store: Store, signal: AbortSignal | undefined) {
  if (ids !== 'calculations') return { ids, idsFrom };
  const linked = await linkedDatasets(store, signal);
  return { ids: linked.ids, idsFrom: `calculations, run ${linked.run}` };
}

/** The ids as the manifest tells them. What was taken from the calculations may differ from night to night. */
function toldSelection({ source, ids: given }: RequestedSnapshot, ids: readonly string[]) {
  const told = given === 'calculations' ? given : toldIds(ids);
  return source === 'cards' ? { datasets: told } : { ids: told };
}

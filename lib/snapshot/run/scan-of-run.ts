import * as z from 'zod/mini';
import { MOST_LIST_BYTES, printBounded, readStored, type Store } from '../../store/index.ts';
import { sourceOf, workFolder } from '../keys.ts';
import type { Scan } from '../scan.ts';
import type { RunToScan } from '../sources/source-definition.ts';
import { sourceDefinitions } from '../sources/sources.ts';
import type { Checkpoint } from './checkpoint.ts';

/** The scan of a run according to its checkpoint: the same for a new run and for one that is resumed. */
export async function scanOfRun(
  checkpoint: Checkpoint,
  { store, ...parts }: Omit<RunToScan, 'ids'> & { readonly store: Store },
): Promise<Scan<unknown>> {
  const { ids: idsOf, openScan } = sourceDefinitions[sourceOf(checkpoint.source)];
  const ids = idsOf === undefined ? [] : await readIds(store, checkpoint);
  return openScan(checkpoint.selection, { ...parts, ids });
}

const idsSchema = z.object({ ids: z.array(z.string()) });

type RunWithIds = Pick<Checkpoint, 'source' | 'run'>;

const idsKey = ({ source, run }: RunWithIds) => `${workFolder(source, { id: run })}_ids.json`;

/** Stores the ids of a run, so that it can be resumed even if the file or run they came from has changed. */
export async function storeIds(store: Store, run: RunWithIds, ids: readonly string[]): Promise<void> {
  await store.put(idsKey(run), printBounded(idsKey(run), { ids }, MOST_LIST_BYTES));
}

/** The stored ids of a run. Throws `StoredObjectError` if they are missing or damaged. */
export async function readIds(store: Store, run: RunWithIds): Promise<readonly string[]> {
  const expected = { what: "the run's ids", schema: idsSchema, mostBytes: MOST_LIST_BYTES };
  return (await readStored(store, idsKey(run), expected)).value.ids;
}

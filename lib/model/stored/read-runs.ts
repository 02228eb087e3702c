import type { Store } from '../../store/store.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { rowGroupsOf } from '../columns/read-columns.ts';
import type { Things } from '../graph/things.ts';
import { createUsesCollector, type UsesCollector, type UsesGraph } from '../graph/uses-graph.ts';
import { type StatingSource, statingFields } from '../rules/index.ts';
import type { LastRun } from './last-runs.ts';
import { storeUses, type UsesToRead, usesKey, usesOfPart } from './uses-of-part.ts';

/** Runs to read as far as they are whole. */
export type RunsToRead = {
  readonly store: Store;
  readonly runs: readonly LastRun[];
  /** Receives what is missing or damaged, in words: the rest is read. */
  readonly addFault: (fault: string) => void;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Who uses whom, by the calculations and cards of the runs: what is stored of their parts, or else what their lines state,
 * which is stored then.
 */
export async function usesOfRuns(
  { store, runs, addFault, signal }: RunsToRead,
  things: Things,
): Promise<UsesGraph> {
  const uses = createUsesCollector(things);
  for (const { place, source, manifest } of runs) {
    if (!isStating(source)) continue;
    for (const part of manifest.parts)
      await addUses(uses, {
        store,
        source,
        part,
        signal,
        addFault: (fault) => addFault(`${place}: ${fault}`),
      });
  }
  return uses.graph();
}

/** True for a source whose records state uses. */
export const isStating = (source: LastRun['source']): source is StatingSource =>
  Object.hasOwn(statingFields, source);

/** Adds the uses of a part. They are made again if what is stored is damaged. */
async function addUses(uses: UsesCollector, options: UsesToRead): Promise<void> {
  async function add(body: Uint8Array): Promise<void> {
    for await (const group of rowGroupsOf(usesKey(options.part), body)) await uses.add(group);
  }
  const body = await usesOfPart(options);
  try {
    await add(body);
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    await add(await storeUses(options));
  }
}

import { sources } from '../../snapshot/sources/sources.ts';
import { StoreError } from '../../store/error.ts';
import type { Store } from '../../store/store.ts';
import { computeModel } from '../compute/compute-model.ts';
import { type ModelTable, modelTables } from '../model-columns.ts';
import { columnsOfRuns } from './columns-of-runs.ts';
import { lastRuns } from './last-runs.ts';
import { type MadeTable, makeTable } from './model-tables.ts';
import { findModel, isBehind, runsIn, type StoredModel } from './stored-model.ts';
import { type ModelToWrite, writeModel } from './write-model.ts';

export type ModelToRenew = {
  readonly store: Store;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Receives what is missing or damaged, in words. */
  readonly addFault: (fault: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** A model whose tables are missing or damaged: it is computed again. */
  readonly damaged?: Pick<StoredModel, 'asOf'> | undefined;
};

/** A model whose tables are stored, or else in memory. */
export type CurrentModel = Pick<StoredModel, 'asOf' | 'runs'> & {
  readonly tables: Readonly<Record<ModelTable, StoredModel['tables'][ModelTable] | MadeTable>>;
};

/**
 * How often a model is computed before one is taken that another writer stored meanwhile. Each time that a writer comes too
 * late, another one has stored a model; one of runs that were the last ones since this call began is as good as its own, so
 * only writers that began before it can make it compute again.
 */
const MOST_ROUNDS = 3;

/**
 * The model of runs that were the last published ones at some time since the call began: what is stored if it is over these,
 * or else computed and stored. Computes it at most three times, however many others write and publish meanwhile. Throws
 * `StoredObjectError` if a run is damaged, `StoreError` if it cannot be stored.
 */
export const renewModel = (options: ModelToRenew): Promise<StoredModel> => renewed(options, writeModel);

/** The same, in memory where it cannot be stored: whoever may only read computes it. */
export const currentModel = (options: ModelToRenew): Promise<CurrentModel> =>
  renewed(options, async (made): Promise<CurrentModel | undefined> => {
    try {
      return await writeModel(made);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return inMemory(made);
    }
  });

async function renewed<Written>(
  options: ModelToRenew,
  write: (made: ModelToWrite) => Promise<Written | undefined>,
): Promise<Written | StoredModel> {
  const { store, now, addFault, signal, damaged } = options;
  const sinceMs = now();
  for (let round = 1; ; round += 1) {
    const before = await findModel(store);
    const asOfMs = now();
    const { runs } = await lastRuns(store, sources, addFault);
    const isUsable = before.model !== undefined && before.model.asOf !== damaged?.asOf;
    const isLate = round > 1 && before.model !== undefined && Date.parse(before.model.asOf) >= sinceMs;
    if (before.model !== undefined && isUsable)
      if (isLate || round > MOST_ROUNDS || !isBehind(before.model, runs)) return before.model;
    const model = await computeModel(columnsOfRuns({ store, runs, signal }));
    const written = await write({ store, model, runs, asOfMs, before });
    if (written !== undefined) return written;
  }
}

function inMemory({ model, runs, asOfMs }: ModelToWrite): CurrentModel {
  const made = modelTables.map((table) => [table, makeTable(model, table, asOfMs)]);
  return {
    asOf: new Date(asOfMs).toISOString(),
    runs: runsIn(runs),
    tables: Object.fromEntries(made) as CurrentModel['tables'],
  };
}

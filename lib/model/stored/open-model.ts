import { type Source, sources } from '../../snapshot/sources/sources.ts';
import { StoreError } from '../../store/error.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { createColumnFile } from '../../tables/parquet/column-file.ts';
import type { ModelColumns, SourceColumns } from '../compute/columns-of.ts';
import { computeModel, type Model } from '../compute/compute-model.ts';
import { columnsOfRuns } from './columns-of-runs.ts';
import { type LastRun, lastRuns } from './last-runs.ts';
import type { ModelToRenew } from './renew-model.ts';
import { findModel, isBehind } from './stored-model.ts';
import { writeModel } from './write-model.ts';

/** The model in memory. */
export type OpenedModel = {
  readonly model: Model;
  /** What it was computed over. */
  readonly runs: readonly LastRun[];
  /** When these were the last ones, in epoch milliseconds. */
  readonly asOfMs: number;
  /** The columns of these, without the parts that are damaged. */
  readonly columns: ModelColumns;
};

/**
 * Computes the model of the last published runs for whoever reads their records too. What is stored is replaced if it is
 * behind, unless a part is damaged or the store takes nothing. Parts that are missing or damaged go to `addFault`, each
 * time they are read, and what uses their records lacks no target.
 */
export async function openModel({ store, now, addFault, signal }: ModelToRenew): Promise<OpenedModel> {
  const before = await findModel(store);
  const asOfMs = now();
  const { runs } = await lastRuns(store, sources, addFault);
  let isSound = true;
  const columns = withoutDamage(columnsOfRuns({ store, runs, signal }), (fault) => {
    isSound = false;
    addFault(fault);
  });
  const model = await computeModel(columns);
  // What is stored over the same runs says the same, also of when.
  if (isSound && before.model !== undefined && !isBehind(before.model, runs))
    return { model, runs, asOfMs: Date.parse(before.model.asOf), columns };
  if (isSound) await unlessRefused(() => writeModel({ store, model, runs, asOfMs, before }));
  return { model, runs, asOfMs, columns };
}

function withoutDamage(columns: ModelColumns, addFault: (fault: string) => void): ModelColumns {
  const found: Partial<Record<Source, SourceColumns>> = {};
  for (const [source, given] of Object.entries(columns)) {
    let isWhole = given.isWhole;
    const forgiving = (read: () => Promise<Uint8Array>) => async (): Promise<Uint8Array> => {
      try {
        return await read();
      } catch (error) {
        if (!(error instanceof StoredObjectError)) throw error;
        isWhole = false;
        addFault(`${source}: ${error.message}`);
        return createColumnFile({}).end().body;
      }
    };
    found[source as Source] = {
      get isWhole() {
        return isWhole;
      },
      parts: given.parts.map(({ records, uses }) => ({
        records: { ...records, read: forgiving(records.read) },
        uses: uses && { ...uses, read: forgiving(uses.read) },
      })),
    };
  }
  return found;
}

/** Whoever may only read has the model in memory. */
async function unlessRefused(write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}

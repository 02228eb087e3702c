import { sources } from '../../snapshot/sources/sources.ts';
import { StoreError } from '../../store/error.ts';
import { asText, rowGroupsOf } from '../columns/read-columns.ts';
import { computeModel } from '../compute/compute-model.ts';
import { columnsOfRuns } from './columns-of-runs.ts';
import { lastRuns } from './last-runs.ts';
import { makeTable, modelColumns } from './model-tables.ts';
import { type ModelToRenew, renewModel } from './renew-model.ts';
import type { ModelTable } from './stored-model.ts';
import { storedParquet } from './uses-of-part.ts';

/** A row by the names of its columns; counts are numbers. */
export type ModelRow = Readonly<Record<string, string | number | boolean | null>>;

/**
 * The rows, of all ids or of some, of a table of the model of the last published runs, which is computed again if it is behind:
 * in memory where nothing may be stored, or the table is lost. Throws `StoredObjectError` if a run is damaged.
 */
export async function modelRows(
  options: ModelToRenew,
  table: ModelTable,
  isWanted: (id: string) => boolean = () => true,
): Promise<readonly ModelRow[]> {
  const [idColumn = '', ...others] = Object.keys(modelColumns[table]);
  const { key, body } = await tableOf(options, table);
  const rows: ModelRow[] = [];
  for await (const group of rowGroupsOf(key, body)) {
    const ids = await group.texts(idColumn, asText);
    const wanted = Array.from(ids, (id, row) => ({ id, row })).filter(({ id }) => isWanted(id ?? ''));
    if (wanted.length === 0) continue;
    const columns: (readonly [string, ArrayLike<unknown>])[] = [];
    for (const name of others) columns.push([name, await group.values(name)]);
    for (const { id, row } of wanted) {
      const values = columns.map(([name, all]) => [name, shownValue(all[row])]);
      rows.push({ [idColumn]: id, ...Object.fromEntries(values) });
    }
  }
  return rows;
}

const shownValue = (value: unknown): unknown => (typeof value === 'bigint' ? Number(value) : (value ?? null));

async function tableOf(options: ModelToRenew, table: ModelTable) {
  const { store, addFault, signal } = options;
  const key = await keyOf(options, table);
  const stored = await storedParquet(store, key);
  if (stored !== undefined) return { key: key ?? table, body: stored };
  const { runs } = await lastRuns(store, sources, addFault);
  return {
    key: table,
    body: makeTable(await computeModel(columnsOfRuns({ store, runs, signal })), table).body,
  };
}

async function keyOf(options: ModelToRenew, table: ModelTable): Promise<string | undefined> {
  try {
    return (await renewModel(options)).tables[table];
  } catch (error) {
    // Whoever may only read computes it in memory.
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

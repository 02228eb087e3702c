import { StoredObjectError } from '../../store/stored-json.ts';
import { asText, rowGroupsOf } from '../columns/read-columns.ts';
import { type ModelTable, modelColumns } from '../model-columns.ts';
import { type CurrentModel, currentModel, type ModelToRenew } from './renew-model.ts';
import { storedParquet } from './uses-of-part.ts';

/** A row by the names of its columns; counts are numbers. */
export type ModelRow = Readonly<Record<string, string | number | boolean | null>>;

/** Columns that say nothing of the thing that a row is of. */
const ABOUT_THE_ROW: readonly string[] = ['record_id', 'as_of'];

/**
 * The rows, of all canonical ids or of some, of a table of the model of the last published runs, which is computed again if
 * it is behind or the table is lost. Throws `StoredObjectError` if a run is damaged.
 */
export async function modelRows(
  options: ModelToRenew,
  table: ModelTable,
  isWanted: (id: string) => boolean = () => true,
): Promise<readonly ModelRow[]> {
  const [idColumn = '', ...others] = Object.keys(modelColumns[table]).filter(
    (name) => !ABOUT_THE_ROW.includes(name),
  );
  const rows: ModelRow[] = [];
  for await (const group of rowGroupsOf(`model/${table}`, await bodyOf(options, table))) {
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

async function bodyOf(options: ModelToRenew, table: ModelTable): Promise<Uint8Array> {
  const model = await currentModel(options);
  const body = await bodyIn(options, model, table);
  if (body !== undefined) return body;
  const again = await bodyIn(options, await currentModel({ ...options, damaged: model }), table);
  if (again === undefined)
    throw new StoredObjectError('missing', `model/${table}: expected a table, got none`);
  return again;
}

async function bodyIn({ store }: ModelToRenew, { tables }: CurrentModel, table: ModelTable) {
  const made = tables[table];
  return 'body' in made ? made.body : await storedParquet(store, made.key);
}

import { createRowWriter, type MadeRows } from '../columns/write-rows.ts';
import type { Model } from '../compute/compute-model.ts';
import { type FlaggedKind, flagBits, flagsOf } from '../flags.ts';
import type { ModelTable } from './stored-model.ts';

const booleans = (kind: FlaggedKind): Readonly<Record<string, 'boolean'>> =>
  Object.fromEntries(flagsOf[kind].map((flag) => [flag, 'boolean']));

const bigints = (...names: readonly string[]): Readonly<Record<string, 'bigint'>> =>
  Object.fromEntries(names.map((name) => [name, 'bigint']));

/** The columns of each table of a model. */
export const modelColumns: Readonly<Record<ModelTable, Readonly<Record<string, string>>>> = {
  calculations: { calculation_id: 'string', ...booleans('calculation') },
  cards: { card_id: 'string', ...booleans('card') },
  datasets: { dataset_id: 'string', ...bigints('cards', 'calculations', 'broken_links') },
  owners: {
    user_id: 'string',
    name: 'string',
    ...bigints('calculations', 'cards', 'files', 'data_files', 'locked', 'oldest_modified'),
    ...bigints('broken_links', 'invalid', 'missing_target', 'affected', 'unused'),
  },
};

/** Makes the Parquet of a table. Memory holds it and one row group. */
export function makeTable(model: Model, table: ModelTable): MadeRows {
  const rows = createRowWriter(modelColumns[table]);
  for (const row of rowsOf[table](model)) rows.add(row);
  return rows.end();
}

const rowsOf: Readonly<Record<ModelTable, (model: Model) => Iterable<string>>> = {
  calculations: (model) => flaggedRows(model, model.calculations, 'calculation'),
  cards: (model) => flaggedRows(model, model.cards, 'card'),
  datasets: ({ datasets }) => datasets.map((dataset) => JSON.stringify(dataset)),
  owners: ({ owners }) => owners.map((owner) => JSON.stringify(owner)),
};

function* flaggedRows({ things, flags }: Model, nodes: Uint32Array, kind: FlaggedKind): Generator<string> {
  // There are few combinations of flags.
  const ends = new Map<number, string>();
  for (const node of nodes) {
    const bits = flags[node] ?? 0;
    const end = ends.get(bits) ?? endOf(bits, kind);
    ends.set(bits, end);
    yield `{"${kind}_id":${JSON.stringify(things.thingAt(node).id)}${end}`;
  }
}

const endOf = (bits: number, kind: FlaggedKind): string =>
  `${flagsOf[kind].map((flag) => `,"${flag}":${(bits & flagBits[flag]) !== 0}`).join('')}}`;

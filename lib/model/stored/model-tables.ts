import { createHash } from 'node:crypto';
import { createColumnFile } from '../../tables/parquet/column-file.ts';
import type { Model } from '../compute/compute-model.ts';
import { type Flag, type FlaggedKind, flagBits, flagsOf } from '../flags.ts';
import { flagColumns, type ModelTable, modelColumns, recordColumns } from '../model-columns.ts';

/** A table as Parquet. */
export type MadeTable = {
  readonly body: Buffer<ArrayBuffer>;
  readonly bytes: number;
  readonly sha256: string;
};

/** Makes the Parquet of a table. Memory holds it and one row group. */
export function makeTable(model: Model, table: ModelTable, asOfMs: number): MadeTable {
  const { body } = makers[table](model, asOfMs);
  return { body, bytes: body.byteLength, sha256: createHash('sha256').update(body).digest('hex') };
}

type Make = (model: Model, asOfMs: number) => { readonly body: Buffer<ArrayBuffer> };

const makers: Readonly<Record<ModelTable, Make>> = {
  calculations: (model, asOfMs) => flaggedTable('calculation', model, model.calculations, asOfMs),
  cards: (model, asOfMs) => flaggedTable('card', model, model.cards, asOfMs),
  datasets: ({ datasets }, asOfMs) => countedTable(modelColumns.datasets, datasets, asOfMs),
  owners: ({ owners }, asOfMs) => countedTable(modelColumns.owners, owners, asOfMs),
  uses: usesTable,
};

/** A row for each id that a record of a kind has, and one for each other way in which records write it. */
function flaggedTable(
  kind: FlaggedKind,
  { things, flags, spellings }: Model,
  nodes: Uint32Array,
  asOfMs: number,
) {
  const names: readonly Flag[] = flagsOf[kind];
  const file = createColumnFile({ ...recordColumns, ...flagColumns(names) });
  const { record_id, thing_id, as_of, ...rest } = file.columns;
  const add = (node: number, spelling?: string) => {
    if (spelling === undefined) things.spanOf(node, record_id.addSpan);
    else record_id.add(spelling);
    things.spanOf(node, thing_id.addSpan);
    as_of.add(asOfMs);
    for (const name of names) rest[name].add(((flags[node] ?? 0) & flagBits[name]) !== 0);
    file.endRow();
  };
  for (const node of nodes) add(node);
  for (const [spelling, node] of spellings[kind]) add(node, spelling);
  return file.end();
}

/** A row for each object, by the names of its members. */
function countedTable<Name extends string>(
  types: Readonly<Record<Name, 'string' | 'bigint' | 'boolean'>>,
  rows: readonly Readonly<Partial<Record<Name, string | number | null>>>[],
  asOfMs: number,
) {
  const file = createColumnFile(types);
  const names = Object.keys(types) as Name[];
  for (const row of rows) {
    for (const name of names) file.columns[name].add(name === 'as_of' ? asOfMs : (row[name] ?? null));
    file.endRow();
  }
  return file.end();
}

function usesTable({ things, graph }: Model, asOfMs: number) {
  const file = createColumnFile(modelColumns.uses);
  const { columns } = file;
  for (let edge = 0; edge < graph.user.length; edge += 1) {
    const [user, used] = [graph.user[edge] ?? 0, graph.used[edge] ?? 0];
    columns.user_kind.add(things.kindAt(user));
    things.spanOf(user, columns.user_id.addSpan);
    columns.used_kind.add(things.kindAt(used));
    things.spanOf(used, columns.used_id.addSpan);
    columns.relation.add(graph.relationAt(edge));
    columns.validity.add(graph.validityAt(edge));
    columns.broken.add(graph.isBrokenAt(edge));
    columns.stated_by.add(graph.statedByAt(edge));
    const stater = graph.staterAt(edge);
    columns.stater_kind.add(things.kindAt(stater));
    things.spanOf(stater, columns.stater_id.addSpan);
    columns.as_of.add(asOfMs);
    file.endRow();
  }
  return file.end();
}

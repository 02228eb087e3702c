import { hash } from 'node:crypto';
import { jsonBytesOf } from '../../snapshot/page/json-bytes.ts';
import { type ColumnWriter, createColumnFile } from '../../tables/parquet/column-file.ts';
import { HEAD_BYTES } from '../columns/numbered-texts.ts';
import type { PackedModel } from '../compute/compute-model.ts';
import { type Flag, type FlaggedKind, flagBits, flagsOf } from '../flags.ts';
import { graphIn, type PackedUses, thingsIn } from '../graph/uses-graph.ts';
import { flagColumns, type ModelTable, modelColumns, recordColumns } from '../model-columns.ts';

export type MadeTable = {
  readonly body: Buffer;
  readonly bytes: number;
  readonly sha256: string;
};

export function makeTable(model: PackedModel, table: ModelTable, asOfMs: number): MadeTable {
  const { body } = makers[table](model, asOfMs);
  return { body, bytes: body.byteLength, sha256: hash('sha256', body) };
}

type Make = (model: PackedModel, asOfMs: number) => { readonly body: Buffer };

const makers: Readonly<Record<ModelTable, Make>> = {
  calculations: (model, asOfMs) => flaggedTable('calculation', model, asOfMs),
  cards: (model, asOfMs) => flaggedTable('card', model, asOfMs),
  datasets: ({ datasets }, asOfMs) => countedTable(modelColumns.datasets, datasets, asOfMs),
  owners: ({ owners }, asOfMs) => countedTable(modelColumns.owners, owners, asOfMs),
  uses: usesTable,
};

/** A row for each id that a record of a kind has, and one for each other way in which records write it. */
function flaggedTable(kind: FlaggedKind, { uses, flags, ...model }: PackedModel, asOfMs: number) {
  const { nodes, spellings } = model[`${kind}s`];
  const names: readonly Flag[] = flagsOf[kind];
  const file = createColumnFile({ ...recordColumns, ...flagColumns(names) });
  const { record_id, thing_id, as_of, ...rest } = file.columns;
  const addId = idsOf(uses);
  const add = (node: number, spelling?: string) => {
    if (spelling === undefined) addId(record_id, node);
    else record_id.add(spelling);
    addId(thing_id, node);
    as_of.add(asOfMs);
    for (const name of names) rest[name].add(((flags[node] ?? 0) & flagBits[name]) !== 0);
    file.endRow();
  };
  for (const node of nodes) add(node);
  for (const [spelling, node] of spellings) add(node, spelling);
  return file.end();
}

function idsOf({ things }: PackedUses) {
  const source = jsonBytesOf(things.bytes);
  return (column: ColumnWriter, node: number) =>
    column.addSpan(source, (things.starts[node] ?? 0) + HEAD_BYTES, things.starts[node + 1] ?? 0);
}

function countedTable<Name extends string>(
  types: Readonly<Record<Name, 'string' | 'bigint' | 'boolean'>>,
  rows: readonly Readonly<Partial<Record<NoInfer<Name>, string | number | null>>>[],
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

function usesTable({ uses }: PackedModel, asOfMs: number) {
  const file = createColumnFile(modelColumns.uses);
  const { columns } = file;
  const [addId, { kindAt }, graph] = [idsOf(uses), thingsIn(uses.things), graphIn(uses)];
  for (let edge = 0; edge < graph.user.length; edge += 1) {
    const [user, used, stater] = [graph.user[edge] ?? 0, graph.used[edge] ?? 0, graph.staterAt(edge)];
    columns.user_kind.add(kindAt(user));
    addId(columns.user_id, user);
    columns.used_kind.add(kindAt(used));
    addId(columns.used_id, used);
    columns.relation.add(graph.relationAt(edge));
    columns.validity.add(graph.validityAt(edge));
    columns.broken.add(graph.isBrokenAt(edge));
    columns.stated_by.add(graph.statedByAt(edge));
    columns.stater_kind.add(kindAt(stater));
    addId(columns.stater_id, stater);
    columns.as_of.add(asOfMs);
    file.endRow();
  }
  return file.end();
}

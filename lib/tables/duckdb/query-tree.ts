import type { DuckDBConnection } from '@duckdb/node-api';
import { parseJson } from '../../base/json/index.ts';
import type { Column } from '../../columns.ts';
import type { View } from '../catalog/view.ts';
import { literal } from './schema.ts';

/*
 * A query as DuckDB's own parser returns it, and which columns the names in it refer to.
 */

/** The column that a name refers to. `of`: its table and its name there, if it comes from a single table. */
type NamedColumn = Column & { readonly of?: { readonly table: string; readonly name: string } };

/**
 * A column of a relation. `column`: the table's column that it shows; null if it is NULL everywhere; undefined if it is
 * computed.
 */
type RelationColumn = { readonly name: string; readonly column: NamedColumn | null | undefined };

type Relation = { readonly alias: string; readonly columns: readonly RelationColumn[] };

/** What names refer to at one node of a query. */
export type Scope = {
  /** Tables and common table expressions, by name. */
  readonly tables: ReadonlyMap<string, readonly RelationColumn[]>;
  readonly relations: readonly Relation[];
  /** The expressions that the query selects. Its conditions may use their names. */
  readonly selected: readonly QueryNode[];
  readonly outer?: Scope;
};

/** What a name refers to. `hasMoment`: its relation has the column `column.moment`, the same time as a timestamp. */
type NameMeaning = { readonly column: NamedColumn; readonly hasMoment: boolean };

/** Yields every node of a query, with the scope of its names. */
export function* scopedNodes(
  root: object,
  views: readonly View[],
): Generator<readonly [node: QueryNode, scope: Scope]> {
  const tables = new Map(views.map(({ name, columns }) => [name, columnsOfView(name, columns)]));
  const left: (readonly [value: unknown, scope: Scope])[] = [[root, { tables, relations: [], selected: [] }]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [value, outer] = next;
    if (typeof value !== 'object' || value === null) continue;
    const scope = Array.isArray(value) ? outer : scopeOf(value, outer);
    if (!Array.isArray(value)) yield [value, scope];
    for (const child of Object.values(value)) left.push([child, scope]);
  }
}

/** The operands of a comparison, each with the others; an empty list if the node is not a comparison. */
export function comparedIn({
  type = '',
  left,
  right,
  input,
  lower,
  upper,
  children = [],
}: QueryNode): readonly {
  readonly type: string;
  readonly operand: QueryNode;
  readonly others: readonly QueryNode[];
}[] {
  if (!/^COMPARE_/.test(type)) return [];
  const operands = [left, right, input, lower, upper, ...children].filter((each) => each !== undefined);
  return operands.map((operand) => ({
    type,
    operand,
    others: operands.filter((each) => each !== operand),
  }));
}

/**
 * The column that a node refers to, from the nearest query with a relation that has it; undefined if it is not a
 * column.
 */
export function meaningOf(node: QueryNode, scope: Scope): NameMeaning | undefined {
  const name = columnOf(node);
  const table = node.column_names?.at(-2)?.toLowerCase();
  for (let at: Scope | undefined = scope; at !== undefined && name !== undefined; at = at.outer) {
    const found = at.relations
      .filter(({ alias }) => table === undefined || alias === table)
      .flatMap(({ columns }) => columns.filter((each) => each.name === name).map(meaningIn(columns)));
    if (found.length > 0) return found.reduce(commonMeaning);
    const selected = table === undefined ? at.selected.find((each) => nameOf(each) === name) : undefined;
    const meant = selected && meaningOf(selected, { ...at, selected: [] });
    if (meant !== undefined) return { ...meant, hasMoment: false };
  }
  return undefined;
}

/**
 * The columns that a name could refer to. If the name has a table, these are the table's columns; otherwise the columns
 * of all relations of the nearest query and of the queries around it.
 */
export function candidates(node: QueryNode, scope: Scope): readonly RelationColumn[] {
  const table = node.column_names?.at(-2)?.toLowerCase();
  const found: RelationColumn[] = [];
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    // A query in a FROM is itself a relation of the query around it. Its computed columns cannot be what a name inside
    // it refers to, so they are left out.
    for (const { alias, columns } of at.relations)
      if (table === undefined || alias === table)
        found.push(...columns.filter(({ column }) => at === scope || column !== undefined));
    if (table === undefined)
      for (const { alias } of at.selected)
        if (alias) found.push({ name: alias.toLowerCase(), column: undefined });
  }
  return found;
}

const meaningIn =
  (columns: readonly RelationColumn[]) =>
  ({ column }: RelationColumn): NameMeaning | undefined =>
    column ? { column, hasMoment: columns.some(({ name }) => name === column.moment) } : undefined;

/** What two columns that a name may refer to have in common; undefined if their types differ. */
function commonMeaning(
  one: NameMeaning | undefined,
  other: NameMeaning | undefined,
): NameMeaning | undefined {
  const column = one && other && commonColumn(one.column, other.column);
  return column && { column, hasMoment: one.hasMoment && other.hasMoment };
}

/** The properties that two columns have in common; undefined if their types differ. */
function commonColumn(one: NamedColumn, other: NamedColumn): NamedColumn | undefined {
  if (one.type !== other.type) return undefined;
  const { isId, moment, of: _, ...rest } = one;
  return {
    ...rest,
    ...(isId && other.isId && { isId }),
    ...(moment !== undefined && other.moment !== undefined && { moment }),
  };
}

const columnsOfView = (table: string, columns: View['columns']): readonly RelationColumn[] =>
  Object.entries(columns).map(([name, column]) => ({ name, column: { ...column, of: { table, name } } }));

/** The scope of names within a query; for any other node, the scope around it. */
function scopeOf(node: QueryNode, outer: Scope): Scope {
  const expressions = node.cte_map?.map ?? [];
  if (node.type !== 'SELECT_NODE' && expressions.length === 0) return outer;
  const tables = new Map(outer.tables);
  const scope = { tables, relations: [], selected: node.select_list ?? [], outer };
  for (const { key = '', value } of expressions)
    tables.set(key.toLowerCase(), renamed(value?.query?.node, value?.aliases, scope));
  return { ...scope, relations: [...relationsOf(node.from_table, scope)] };
}

function* relationsOf(from: QueryNode | undefined, scope: Scope): Generator<Relation> {
  if (from === undefined) return;
  const { type, left, right, table_name: table = '', alias, subquery, column_name_alias: names } = from;
  if (type === 'JOIN') {
    yield* relationsOf(left, scope);
    yield* relationsOf(right, scope);
  } else if (type === 'SUBQUERY')
    yield { alias: alias?.toLowerCase() ?? '', columns: renamed(subquery?.node, names, scope) };
  else {
    const found =
      from.function?.function_name === 'unnest' ? UNNESTED : scope.tables.get(table.toLowerCase());
    const columns = withNames(found ?? [], names);
    yield { alias: (alias || table).toLowerCase(), columns };
  }
}

/** The columns of `FROM UNNEST(list) AS t`: always one. */
const UNNESTED: readonly RelationColumn[] = [{ name: 'unnest', column: undefined }];

const renamed = (query: QueryNode | undefined, names: readonly string[] | undefined, scope: Scope) =>
  withNames(query === undefined ? [] : resultOf(query, scope), names);

const withNames = (
  columns: readonly RelationColumn[],
  names: readonly string[] = [],
): readonly RelationColumn[] =>
  columns.map(({ name, column }, at) => ({ name: names[at]?.toLowerCase() ?? name, column }));

/** The columns of a query's result. */
function resultOf(query: QueryNode, outer: Scope): readonly RelationColumn[] {
  const scope = scopeOf(query, outer);
  const { type, left, right } = query;
  if (left !== undefined && right !== undefined) {
    const columns = resultOf(left, scope);
    const others = resultOf(right, scope);
    return type === 'RECURSIVE_CTE_NODE' ? columns : columns.map((each, at) => united(each, others[at]));
  }
  return (query.select_list ?? []).flatMap((selected) =>
    selected.type === 'STAR'
      ? columnsOfStar(selected, scope)
      : { name: nameOf(selected), column: isNull(selected) ? null : meaningOf(selected, scope)?.column },
  );
}

const isNull = ({ type, value }: QueryNode): boolean => type === 'VALUE_CONSTANT' && value?.is_null === true;

/** Merges the columns of both sides of a UNION. NULL fits any column. */
function united({ name, column }: RelationColumn, other: RelationColumn | undefined): RelationColumn {
  if (column && other?.column) return { name, column: commonColumn(column, other.column) };
  if (column === null) return { name, column: other?.column };
  return { name, column: other?.column === null ? column : undefined };
}

const columnsOfStar = ({ relation_name: table }: QueryNode, { relations }: Scope) =>
  relations.filter(({ alias }) => !table || alias === table.toLowerCase()).flatMap(({ columns }) => columns);

const nameOf = (selected: QueryNode): string => selected.alias?.toLowerCase() || (columnOf(selected) ?? '');

/** A node of a query as DuckDB's parser returns it, with the members that are used here. */
export type QueryNode = {
  readonly type?: string;
  readonly alias?: string;
  /** Where the node begins, in bytes from the start of the query; for an operator, where the operator itself is. */
  readonly query_location?: number | bigint;
  readonly function_name?: string;
  readonly function?: { readonly function_name?: string };
  readonly schema_name?: string;
  readonly table_name?: string;
  readonly column_names?: readonly string[];
  readonly cast_type?: { readonly id?: string };
  readonly value?: {
    readonly type?: { readonly id?: string };
    readonly is_null?: boolean;
    readonly value?: unknown;
  };
  readonly children?: readonly QueryNode[];
  readonly child?: QueryNode;
  readonly left?: QueryNode;
  readonly right?: QueryNode;
  readonly input?: QueryNode;
  readonly lower?: QueryNode;
  readonly upper?: QueryNode;
  readonly select_list?: readonly QueryNode[];
  readonly from_table?: QueryNode;
  readonly subquery?: { readonly node?: QueryNode };
  /** The `t` of `t.*`. */
  readonly relation_name?: string;
  /** The `a` and `b` of `AS t (a, b)`. */
  readonly column_name_alias?: readonly string[];
  readonly cte_map?: {
    readonly map?: readonly {
      readonly key?: string;
      readonly value?: {
        readonly query?: { readonly node?: QueryNode };
        readonly aliases?: readonly string[];
      };
    }[];
  };
};

/** A query and all of its nodes. `fault`: the kind of error if it could not be parsed. */
export type QueryTree = {
  readonly root: object;
  readonly nodes: readonly QueryNode[];
  readonly fault?: string | undefined;
};

/**
 * DuckDB's parser accepts only queries. So the statement is put into a FROM, in which most statements that only read
 * are allowed.
 */
const BEFORE = 'FROM (\n';

/** Parses a query without running it. A query that the parser rejects has no nodes; the planner reports the error. */
export async function parseQuery(connection: DuckDBConnection, sql: string): Promise<QueryTree> {
  const parsed = await connection.runAndReadAll(
    `SELECT json_serialize_sql(${literal(`${BEFORE}${sql}\n)`)})`,
  );
  const tree = parseJson(String(parsed.getRowsJson()[0]?.[0])) as { readonly error_type?: string };
  return { root: tree, nodes: nodesIn(tree), fault: tree.error_type };
}

/** All objects within an object, including itself. */
export function nodesIn(tree: object): readonly QueryNode[] {
  const found: QueryNode[] = [];
  const left: unknown[] = [tree];
  for (let node = left.pop(); node !== undefined; node = left.pop()) {
    if (typeof node !== 'object' || node === null) continue;
    if (!Array.isArray(node)) found.push(node);
    left.push(...Object.values(node));
  }
  return found;
}

/** Where a node begins, in bytes from the start of the query; undefined if the parser does not report it. */
export function positionOf({ query_location: at }: QueryNode): number | undefined {
  const position = Number(at ?? -1) - Buffer.byteLength(BEFORE);
  return position >= 0 && position < Number.MAX_SAFE_INTEGER ? position : undefined;
}

/** The name, in lower case, of the column that a node refers to; undefined for any other node. */
export const columnOf = ({ type, column_names: names }: QueryNode): string | undefined =>
  type === 'COLUMN_REF' ? names?.at(-1)?.toLowerCase() : undefined;

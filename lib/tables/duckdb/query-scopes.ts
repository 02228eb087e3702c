import type { View, ViewColumn } from '../catalog/view.ts';
import { columnOf, type QueryNode } from './query-tree.ts';

/** A column of a relation: what it is of a table, `null` if it is NULL everywhere, or undefined if it is computed. */
type RelationColumn = { readonly name: string; readonly column: ViewColumn | null | undefined };

type Relation = { readonly alias: string; readonly columns: readonly RelationColumn[] };

/** What names mean at a place in a query. */
export type Scope = {
  /** Tables and common table expressions, by name. */
  readonly tables: ReadonlyMap<string, readonly RelationColumn[]>;
  readonly relations: readonly Relation[];
  /** What the query itself selects under a name, which its conditions may use. */
  readonly selected: readonly QueryNode[];
  readonly outer?: Scope;
};

/** What a name means: `hasMoment` if the column that has the same time as a timestamp is beside it. */
export type Meant = { readonly column: ViewColumn; readonly hasMoment: boolean };

/** Every node of a query, with what names mean there. */
export function* scopedNodes(
  root: object,
  views: readonly View[],
): Generator<readonly [node: QueryNode, scope: Scope]> {
  const tables = new Map(views.map(({ name, columns }) => [name, columnsOfView(columns)]));
  const left: (readonly [value: unknown, scope: Scope])[] = [[root, { tables, relations: [], selected: [] }]];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [value, outer] = next;
    if (typeof value !== 'object' || value === null) continue;
    const scope = Array.isArray(value) ? outer : scopeOf(value, outer);
    if (!Array.isArray(value)) yield [value, scope];
    for (const child of Object.values(value)) left.push([child, scope]);
  }
}

/** An expression that is compared, with what it is compared with. */
export type Compared = {
  readonly type: string;
  readonly operand: QueryNode;
  readonly others: readonly QueryNode[];
};

/** What a node compares: each of its operands with the others. */
export function comparedIn({
  type = '',
  left,
  right,
  input,
  lower,
  upper,
  children = [],
}: QueryNode): readonly Compared[] {
  // Of a constant it is an object.
  if (!/^COMPARE_/.test(type)) return [];
  const operands = [left, right, input, lower, upper, ...children].filter((each) => each !== undefined);
  return operands.map((operand) => ({
    type,
    operand,
    others: operands.filter((each) => each !== operand),
  }));
}

/** What a column's name means: in the nearest query one of whose relations has it. */
export function meantBy(node: QueryNode, scope: Scope): Meant | undefined {
  const name = columnOf(node);
  const table = node.column_names?.at(-2)?.toLowerCase();
  for (let at: Scope | undefined = scope; at !== undefined && name !== undefined; at = at.outer) {
    const found = at.relations
      .filter(({ alias }) => table === undefined || alias === table)
      .flatMap(({ columns }) => columns.filter((each) => each.name === name).map(meantIn(columns)));
    if (found.length > 0) return found.reduce(both);
    const selected = table === undefined ? at.selected.find((each) => nameOf(each) === name) : undefined;
    const meant = selected && meantBy(selected, { ...at, selected: [] });
    if (meant !== undefined) return { ...meant, hasMoment: false };
  }
  return undefined;
}

/** The columns that a name could be of: of its table, or else of all relations of the nearest query and of those around it. */
export function candidates(node: QueryNode, scope: Scope): readonly RelationColumn[] {
  const table = node.column_names?.at(-2)?.toLowerCase();
  const found: RelationColumn[] = [];
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer) {
    // Around a query in FROM is also what it results in itself.
    for (const { alias, columns } of at.relations)
      if (table === undefined || alias === table)
        found.push(...columns.filter(({ column }) => at === scope || column !== undefined));
    if (table === undefined)
      for (const { alias } of at.selected)
        if (alias) found.push({ name: alias.toLowerCase(), column: undefined });
  }
  return found;
}

const meantIn =
  (columns: readonly RelationColumn[]) =>
  ({ column }: RelationColumn): Meant | undefined =>
    column ? { column, hasMoment: columns.some(({ name }) => name === column.moment) } : undefined;

/** What two columns of one name have in common. */
function both(one: Meant | undefined, other: Meant | undefined): Meant | undefined {
  const column = one && other && shared(one.column, other.column);
  return column && { column, hasMoment: one.hasMoment && other.hasMoment };
}

/** What two columns that become one have in common; undefined if they have different types. */
function shared(one: ViewColumn, other: ViewColumn): ViewColumn | undefined {
  if (one.type !== other.type) return undefined;
  const { isId, moment, ...rest } = one;
  return {
    ...rest,
    ...(isId && other.isId && { isId }),
    ...(moment !== undefined && other.moment !== undefined && { moment }),
  };
}

const columnsOfView = (columns: View['columns']): readonly RelationColumn[] =>
  Object.entries(columns).map(([name, column]) => ({ name, column }));

/** What names mean in a query, or in what is no query of its own: what they mean around it. */
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

/** `FROM UNNEST(list) AS t` has one column, whatever the list holds. */
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
    const [columns, others] = [resultOf(left, scope), resultOf(right, scope)];
    return type === 'RECURSIVE_CTE_NODE' ? columns : columns.map((each, at) => united(each, others[at]));
  }
  return (query.select_list ?? []).flatMap((selected) =>
    selected.type === 'STAR'
      ? columnsOfStar(selected, scope)
      : { name: nameOf(selected), column: isNull(selected) ? null : meantBy(selected, scope)?.column },
  );
}

const isNull = ({ type, value }: QueryNode): boolean => type === 'VALUE_CONSTANT' && value?.is_null === true;

/** A column of both sides of a UNION: NULL fits any. */
function united({ name, column }: RelationColumn, other: RelationColumn | undefined): RelationColumn {
  if (column && other?.column) return { name, column: shared(column, other.column) };
  if (column === null) return { name, column: other?.column };
  return { name, column: other?.column === null ? column : undefined };
}

const columnsOfStar = ({ relation_name: table }: QueryNode, { relations }: Scope) =>
  relations.filter(({ alias }) => !table || alias === table.toLowerCase()).flatMap(({ columns }) => columns);

const nameOf = (selected: QueryNode): string => selected.alias?.toLowerCase() || (columnOf(selected) ?? '');

import type { DuckDBConnection } from '@duckdb/node-api';
import { parseJson } from '../../base/index.ts';
import { literal } from './database.ts';

/** A node of a query as DuckDB's own parser has it, as far as it is looked at. */
export type QueryNode = {
  readonly type?: string;
  readonly alias?: string;
  /** In bytes of the query: where it begins, or for an operator where that is. */
  readonly query_location?: number | bigint;
  readonly function_name?: string;
  readonly function?: { readonly function_name?: string };
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
  /** Of `t.*`. */
  readonly relation_name?: string;
  /** Of `AS t (a, b)`. */
  readonly column_name_alias?: readonly string[];
  readonly cte_map?: { readonly map?: readonly CommonTable[] };
};

type CommonTable = {
  readonly key?: string;
  readonly value?: { readonly query?: { readonly node?: QueryNode }; readonly aliases?: readonly string[] };
};

/** A query and all of its nodes. `fault`: why the parser has none, where that is not for the planner to say. */
export type QueryTree = {
  readonly root: object;
  readonly nodes: readonly QueryNode[];
  readonly fault?: string | undefined;
};

/** DuckDB's parser takes a query only, and most of what only reads is one in a FROM. */
const BEFORE = 'FROM (\n';

/** Parses a query without running it; one that the parser does not take has no nodes: the planner says why. */
export async function parseQuery(connection: DuckDBConnection, sql: string): Promise<QueryTree> {
  const parsed = await connection.runAndReadAll(
    `SELECT json_serialize_sql(${literal(`${BEFORE}${sql}\n)`)})`,
  );
  const tree = parseJson(String(parsed.getRowsJson()[0]?.[0])) as { readonly error_type?: string };
  return { root: tree, nodes: nodesIn(tree), fault: tree.error_type };
}

/** An object and all objects in it. */
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

/** Where a node begins in the query, in bytes; undefined if the parser does not say. */
export function placeOf({ query_location: at }: QueryNode): number | undefined {
  const place = Number(at ?? -1) - Buffer.byteLength(BEFORE);
  return place >= 0 && place < Number.MAX_SAFE_INTEGER ? place : undefined;
}

/** The name of the column that a node is, in lower case; undefined if it is none. */
export const columnOf = ({ type, column_names: names }: QueryNode): string | undefined =>
  type === 'COLUMN_REF' ? names?.at(-1)?.toLowerCase() : undefined;

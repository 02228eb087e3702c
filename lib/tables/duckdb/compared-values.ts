import type { DuckDBConnection } from '@duckdb/node-api';
import { alternatives } from '../../columns.ts';
import type { View } from '../catalog/view.ts';
import {
  columnOf,
  comparedIn,
  meaningOf,
  type QueryNode,
  type QueryTree,
  scopedNodes,
} from './query-tree.ts';

/*
 * Finds strings that a query compares with a column that never contains them. Without a hint, the empty result would
 * look right.
 */

const EQUALS = /^COMPARE_(?:EQUAL|NOTEQUAL|DISTINCT_FROM|NOT_DISTINCT_FROM|IN|NOT_IN)$/;

/**
 * A string that a query compares with a column of words. `values`: all possible values of the column, if they are
 * fixed.
 */
type ComparedString = {
  /** The column's name in the query. */
  readonly name: string;
  readonly text: string;
  readonly isWord: boolean;
  readonly values?: readonly string[] | undefined;
  readonly of?: { readonly table: string; readonly name: string } | undefined;
};

/** The strings that a query compares with columns of words. */
export function comparedStrings({ root }: QueryTree, views: readonly View[]): readonly ComparedString[] {
  return [...scopedNodes(root, views)].flatMap(([node, scope]) =>
    comparedIn(node).flatMap(({ type, operand, others }) => {
      const { values, isWord = false, of } = meaningOf(operand, scope)?.column ?? {};
      if (!EQUALS.test(type) || (values === undefined && !isWord)) return [];
      const name = columnOf(operand) ?? '';
      return others.flatMap(stringsOf).map((text) => ({ name, text, isWord, values, of }));
    }),
  );
}

const stringsOf = ({ type, value }: QueryNode): readonly string[] =>
  type === 'VALUE_CONSTANT' && typeof value?.value === 'string' ? [value.value] : [];

/**
 * For each string that its column never contains, yields a note with the values that it does contain: all of a fixed
 * list, or those in the tables that the query read. `connection`: a database with these tables.
 */
export async function* neverEqual(
  compared: readonly ComparedString[],
  connection: DuckDBConnection,
): AsyncGenerator<string> {
  for (const { name, text, isWord, values, of } of compared) {
    const isOne = (value: string) => (isWord ? value.toLowerCase() === text.toLowerCase() : value === text);
    if (values !== undefined) {
      if (!values.some(isOne))
        yield `${name} is never ${JSON.stringify(text)}: it is ${alternatives(values)}`;
    } else if (of !== undefined) {
      const { rows, found } = await valuesIn(of, connection);
      if (rows > 0 && found.length === 0) yield `${name} is null in all rows of ${of.table}`;
      else if (rows > 0 && !found.some(isOne))
        yield `${name} is never ${JSON.stringify(text)} here: it is ${wordsOf(found)}`;
    }
  }
}

/** Maximum values to list in a note, most frequent first. */
const MAX_NAMED = 12;

const wordsOf = (found: readonly string[]): string =>
  found.length > MAX_NAMED
    ? `one of ${found.length} others, such as ${found.slice(0, MAX_NAMED).join(', ')}`
    : alternatives(found.toSorted());

/**
 * The values of a column, most frequent first; null is left out. `rows`: the number of different values, including
 * null.
 */
async function valuesIn(
  { table, name }: NonNullable<ComparedString['of']>,
  connection: DuckDBConnection,
): Promise<{ readonly rows: number; readonly found: readonly string[] }> {
  const counted = await connection.runAndReadAll(
    `SELECT "${name}", count(*) FROM "${table}" GROUP BY 1 ORDER BY 2 DESC, 1`,
  );
  const rows = counted.getRowsJson();
  return { rows: rows.length, found: rows.flatMap(([value]) => (value === null ? [] : [String(value)])) };
}

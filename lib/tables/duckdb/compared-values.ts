import type { DuckDBConnection } from '@duckdb/node-api';
import { alternatives } from '../../columns.ts';
import type { View } from '../catalog/view.ts';
import { columnOf, comparedIn, meantBy, type QueryNode, type QueryTree, scopedNodes } from './query-tree.ts';

/*
 * Finds texts that a query compares with a column that never has them. Without a hint, no rows would look
 * like a valid result.
 */

const EQUALS = /^COMPARE_(?:EQUAL|NOTEQUAL|DISTINCT_FROM|NOT_DISTINCT_FROM|IN|NOT_IN)$/;

/**
 * A text that a query compares with a column whose values are words. `values`: all possible values, if they are known.
 */
type ComparedText = {
  /** The column as the query names it. */
  readonly name: string;
  readonly text: string;
  readonly isWord: boolean;
  readonly values?: readonly string[] | undefined;
  readonly of?: { readonly table: string; readonly name: string } | undefined;
};

/** The texts that a query compares with columns of words. */
export function comparedTexts({ root }: QueryTree, views: readonly View[]): readonly ComparedText[] {
  return [...scopedNodes(root, views)].flatMap(([node, scope]) =>
    comparedIn(node).flatMap(({ type, operand, others }) => {
      const { values, isWord = false, of } = meantBy(operand, scope)?.column ?? {};
      if (!EQUALS.test(type) || (values === undefined && !isWord)) return [];
      const name = columnOf(operand) ?? '';
      return others.flatMap(textsOf).map((text) => ({ name, text, isWord, values, of }));
    }),
  );
}

const textsOf = ({ type, value }: QueryNode): readonly string[] =>
  type === 'VALUE_CONSTANT' && typeof value?.value === 'string' ? [value.value] : [];

/**
 * For each text that its column never has, says which values it has: all values of a fixed list, otherwise
 * those in the loaded tables. `connection` has the tables that the query read.
 */
export async function* neverEqual(
  compared: readonly ComparedText[],
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

/** Maximum values that are named: the most frequent ones. */
const MAX_NAMED = 12;

const wordsOf = (found: readonly string[]): string =>
  found.length > MAX_NAMED
    ? `one of ${found.length} others, such as ${found.slice(0, MAX_NAMED).join(', ')}`
    : alternatives(found.toSorted());

/** The values of a column, the most frequent first, with their numbers of rows. */
async function valuesIn(
  { table, name }: NonNullable<ComparedText['of']>,
  connection: DuckDBConnection,
): Promise<{ readonly rows: number; readonly found: readonly string[] }> {
  const counted = await connection.runAndReadAll(
    `SELECT "${name}", count(*) FROM "${table}" GROUP BY 1 ORDER BY 2 DESC, 1`,
  );
  const rows = counted.getRowsJson();
  return { rows: rows.length, found: rows.flatMap(([value]) => (value === null ? [] : [String(value)])) };
}

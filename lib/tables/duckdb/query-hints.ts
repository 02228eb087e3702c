import { nearestName } from '../../base/index.ts';
import type { View } from '../catalog/view.ts';
import { QueryError } from './query-text.ts';
import { candidates, columnOf, type QueryNode, type QueryTree, scopedNodes } from './query-tree.ts';

/** Adds to the error of a query that could not be planned the names that the user most likely meant. */
export function withHints(error: unknown, tree: QueryTree, views: readonly View[]): unknown {
  if (!(error instanceof QueryError)) return error;
  const { message } = error;
  const hints = [
    ...tableHints(tree, views),
    ...columnHints(tree, views),
    ...(NOT_A_STRING.test(message) ? listHints(tree, views) : []),
  ].filter((hint) => !message.includes(hint));
  return hints.length === 0
    ? error
    : new QueryError([message, ...new Set(hints)].join('\n'), error.failure, { cause: error });
}

const didYouMean = (name: string) => `Did you mean "${name}"?`;

function* tableHints({ nodes }: QueryTree, views: readonly View[]): Generator<string> {
  const names = views.map(({ name }) => name);
  const known = new Set([...names, ...namedIn(nodes)]);
  for (const { type, table_name: name } of nodes) {
    const written = name?.toLowerCase() ?? '';
    if (type !== 'BASE_TABLE' || known.has(written)) continue;
    const guessed = views.find(({ guesses }) => guesses?.includes(written));
    const table = guessed?.name ?? nearestName(written, names);
    if (table !== undefined) yield didYouMean(table);
  }
}

/**
 * A hint for each column that no table has: the column for which users often try this name, or else the one with the
 * most similar name.
 */
function* columnHints({ root }: QueryTree, views: readonly View[]): Generator<string> {
  for (const [node, scope] of scopedNodes(root, views)) {
    const name = columnOf(node);
    const columns = candidates(node, scope);
    if (name === undefined || columns.some((each) => each.name === name)) continue;
    const guessed = columns.filter(({ column }) => column?.guesses?.includes(name));
    const names = columns.map((each) => each.name);
    const nearest =
      guessed.length > 0 ? guessed.map((each) => each.name) : [nearestName(name, names) ?? []].flat();
    for (const column of new Set(nearest)) yield didYouMean(column);
    if (columns.length === 1 && columns[0]?.name === 'unnest')
      yield didYouMean(`${node.column_names?.slice(0, -1).join('.')}.unnest.${name}`);
  }
}

/** Matches DuckDB's errors about a comparison of a string with a value of another type. */
const NOT_A_STRING = /No function matches|can't be cast|Cannot (?:compare|mix|cast)/;

/**
 * A hint for each column in a query that is a list: the column that has the list as a string, or how to query a list.
 */
function* listHints({ root }: QueryTree, views: readonly View[]): Generator<string> {
  for (const [node, scope] of scopedNodes(root, views)) {
    const name = columnOf(node);
    const columns = candidates(node, scope);
    const own = columns.find((each) => each.name === name)?.column;
    if (name === undefined || !own?.type.startsWith('array<')) continue;
    const strings = columns.filter(({ column }) => column?.guesses?.includes(name));
    for (const string of strings) yield didYouMean(string.name);
    if (strings.length === 0)
      yield `${name} is a list: list_contains(${name}, …) looks for a value, UNNEST(${name}) makes rows of it`;
  }
}

/** The names that a query defines itself. */
const namedIn = (nodes: QueryTree['nodes']): readonly string[] =>
  nodes.flatMap((node) => [node.alias, ...keysOf(node)]).flatMap((name) => name?.toLowerCase() || []);

/** The names of a query's common table expressions. */
const keysOf = ({ cte_map: expressions }: QueryNode): readonly string[] =>
  (expressions?.map ?? []).flatMap(({ key }) => key ?? []);

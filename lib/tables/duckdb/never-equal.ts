import type { View } from '../catalog/view.ts';
import { alternatives } from '../catalog/view.ts';
import { comparedIn, meantBy, scopedNodes } from './query-scopes.ts';
import { columnOf, type QueryNode, type QueryTree } from './query-tree.ts';

/** What a query compares with a value that it never has, in words: else no rows would seem to be the answer. */
export function* neverEqual({ root }: QueryTree, views: readonly View[]): Generator<string> {
  for (const [node, scope] of scopedNodes(root, views))
    for (const { type, operand, others } of comparedIn(node)) {
      const { values, isWord } = meantBy(operand, scope)?.column ?? {};
      if (values === undefined || !EQUALS.test(type)) continue;
      for (const text of others.flatMap(textsOf))
        if (!values.includes(isWord ? text.toLowerCase() : text))
          yield `${columnOf(operand)} is never ${JSON.stringify(text)}: it is ${alternatives(values)}`;
    }
}

const EQUALS = /^COMPARE_(?:EQUAL|NOTEQUAL|DISTINCT_FROM|NOT_DISTINCT_FROM|IN|NOT_IN)$/;

const textsOf = ({ type, value }: QueryNode): readonly string[] =>
  type === 'VALUE_CONSTANT' && typeof value?.value === 'string' ? [value.value] : [];

import { entryOf } from './catalog.ts';
import type { Expression } from './syntax.ts';

/** A node of a formula and where it is: under which node, and whether inside an aggregate's parentheses. */
export type PlacedNode = {
  readonly node: Expression;
  readonly parent: Expression | undefined;
  readonly inAggregate: boolean;
};

/** Every node of a formula, in the order in which they start in its text. */
export function* walk(formula: Expression): Generator<PlacedNode, void, undefined> {
  const pending: PlacedNode[] = [{ node: formula, parent: undefined, inAggregate: false }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    yield place;
    const { node: parent } = place;
    const inAggregate = place.inAggregate || isAggregate(parent);
    for (const node of childrenOf(parent).toReversed()) pending.push({ node, parent, inAggregate });
  }
}

/** Whether a node is a call of an aggregate. */
export function isAggregate(node: Expression): boolean {
  return node.kind === 'call' && entryOf(node.name)?.kind === 'aggregate';
}

/** The direct children of a node, in the order of the text. */
function childrenOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case 'column':
    case 'number':
    case 'text':
    case 'constant':
    case 'star':
    case 'word':
      return [];
    case 'negation':
    case 'not':
      return [node.operand];
    case 'operation':
      return [node.first, ...node.rest.map(({ operand }) => operand)];
    case 'in':
      return [node.operand, ...node.list];
    case 'like':
      return [node.operand, node.pattern];
    case 'between':
      return [node.operand, node.low, node.high];
    case 'case':
      return [
        node.subject,
        ...node.branches.flatMap(({ when, result }) => [when, result]),
        node.otherwise,
      ].filter((part) => part !== undefined);
    case 'interval':
      return [node.amount];
    case 'call':
      return node.args;
    case 'fixed':
      return [node.call, ...node.columns, ...(node.filtered ?? [])];
    case 'window':
      return [node.call, ...node.partitionBy, ...node.orderBy, ...(node.frame?.parts ?? [])];
    case 'phrase':
      return node.parts;
    default:
      return node satisfies never;
  }
}

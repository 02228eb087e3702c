import type { ReportFacts } from '../../facts.ts';
import type { Kind } from '../../graph/graph.ts';

/** A dataset, calculation or card. `name` is empty if none is known; `isKnown` is false if no snapshot holds it. */
export type Node = {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly isKnown: boolean;
};

/** Whatever the graph's numbers stand for, in their order. */
export function nodesOf({ datasets, calculations, cards, graph }: ReportFacts): readonly Node[] {
  const nodes: Node[] = [];
  const add = (kind: Kind, most: number, ids: readonly string[] = [], names: readonly string[] = []) => {
    for (const [index, id] of ids.slice(0, most).entries())
      nodes.push({ kind, id, name: names[index] ?? '', isKnown: true });
  };
  add('dataset', graph.datasets, datasets?.list.columns.id);
  add('calculation', graph.calculations, calculations?.list.columns.id, calculations?.list.columns.name);
  add('card', graph.cards, cards?.list.columns.id, cards?.list.columns.title);
  for (const { kind, id } of graph.others) nodes.push({ kind, id, name: '', isKnown: false });
  return nodes;
}

/** How an address names a node: `card:1234`. */
export const nodeKey = ({ kind, id }: Pick<Node, 'kind' | 'id'>): string => `${kind}:${id}`;

import { type Adjacency, reach } from '../../../model/graph/closure.ts';

/** A node that was reached: over which edge, one of those on a shortest way, and in how many hops. */
export type Reached = { readonly node: number; readonly hop: number; readonly edge: number };

/** Everything that can be reached from a node, nearest first, each once; without the node. */
export function reachedFrom(adjacency: Adjacency, start: number): readonly Reached[] {
  const { nodes, hops, edges } = reach(adjacency, [start]);
  const edgeTo = new Map<number, number>();
  for (const edge of edges) {
    const node = adjacency.to[edge] ?? 0;
    if (!edgeTo.has(node)) edgeTo.set(node, edge);
  }
  return Array.from(nodes, (node, place) => ({
    node,
    hop: hops[place] ?? 0,
    edge: edgeTo.get(node) ?? -1,
  }));
}

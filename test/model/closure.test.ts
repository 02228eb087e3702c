import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adjacencyOf, reach } from '../../lib/model/rules/closure.ts';

/** A graph with these edges: from, to. */
const edgesOf = (nodes: number, pairs: readonly (readonly [number, number])[]) =>
  adjacencyOf({ nodes, from: pairs.map(([from]) => from), to: pairs.map(([, to]) => to) });

/** Bellman-Ford: the distance of each node from the nearest start. */
function distances(nodes: number, pairs: readonly (readonly [number, number])[], starts: readonly number[]) {
  const found = Array.from({ length: nodes }, (_, node) =>
    starts.includes(node) ? 0 : Number.POSITIVE_INFINITY,
  );
  for (let round = 0; round < nodes; round += 1)
    for (const [from, to] of pairs) found[to] = Math.min(found[to] ?? 0, (found[from] ?? 0) + 1);
  return found;
}

test('the closure equals the result of a naive search, for any graph, even with cycles, and any limit of hops', () => {
  const graphs = fc.integer({ min: 1, max: 12 }).chain((nodes) => {
    const node = fc.nat(nodes - 1);
    return fc.record({
      nodes: fc.constant(nodes),
      pairs: fc.array(fc.tuple(node, node), { maxLength: 30 }),
      // `nodes` itself is no node of the graph.
      starts: fc.array(fc.nat(nodes), { maxLength: 3 }),
      hops: fc.integer({ min: 0, max: 13 }),
      most: fc.nat(13),
    });
  });

  fc.assert(
    fc.property(graphs, ({ nodes, pairs, starts, hops, most }) => {
      const far = distances(nodes, pairs, starts);
      const within = far.flatMap((distance, node) => (distance > 0 && distance <= hops ? [node] : []));

      const found = reach(edgesOf(nodes, pairs), starts, { hops, maxListed: most });

      const listed = [...found.nodes];
      expect(new Set(listed).size).toBe(Math.min(within.length, most));
      expect(listed.map((node) => far[node])).toEqual([...found.hops]);
      expect([...found.hops]).toEqual([...found.hops].sort((a, b) => a - b));
      expect(found.counts.reduce((sum, count) => sum + count, 0)).toBe(within.length);
      expect(found.isCut).toBe(
        far.some((distance) => distance > hops && distance < Number.POSITIVE_INFINITY),
      );
      const ways = pairs.flatMap(([from, to], edge) =>
        listed.includes(to) && far[to] === (far[from] ?? 0) + 1 ? [edge] : [],
      );
      expect([...found.edges].sort((a, b) => a - b)).toEqual(ways);
    }),
  );
});

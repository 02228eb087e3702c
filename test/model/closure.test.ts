import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adjacencyOf, type Reach, reach } from '../../lib/model/graph/closure.ts';

/** Edges as pairs: from, to. */
const edgesOf = (nodes: number, pairs: readonly (readonly [number, number])[]) =>
  adjacencyOf({ nodes, from: pairs.map(([from]) => from), to: pairs.map(([, to]) => to) });

/** The nodes of each hop, sorted. */
function byHop({ nodes, hops }: Reach): readonly (readonly number[])[] {
  const rows = Object.entries(Object.groupBy(nodes.keys(), (place) => hops[place] ?? 0));
  return rows.map(([, places = []]) => places.map((place) => nodes[place] ?? -1).sort((a, b) => a - b));
}

describe('what is reached', () => {
  test('comes hop by hop, with the edges of the shortest ways', () => {
    const edges = edgesOf(6, [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
      [1, 2],
      [3, 0],
      [4, 5],
    ]);

    const found = reach(edges, [0]);

    expect(byHop(found)).toEqual([[1, 2], [3]]);
    expect([...found.edges]).toEqual([0, 1, 2, 3]);
    expect(found.counts).toEqual([2, 1]);
    expect(found.isCut).toBe(false);
  });

  test('does not include the start, in a circle or with an edge to itself', () => {
    const edges = edgesOf(3, [
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
    ]);

    expect(byHop(reach(edges, [0]))).toEqual([[1]]);
    expect([...reach(edges, [0]).edges]).toEqual([1]);
    expect(byHop(reach(edges, [0, 0, 1]))).toEqual([]);
    expect(byHop(reach(edges, [99]))).toEqual([]);
  });

  test('ends after so many hops, and says whether there is more', () => {
    const chain = edgesOf(4, [
      [0, 1],
      [1, 2],
      [2, 3],
    ]);

    expect(byHop(reach(chain, [0], { hops: 2 }))).toEqual([[1], [2]]);
    expect(reach(chain, [0], { hops: 2 })).toMatchObject({ counts: [1, 1], isCut: true });
    expect(reach(chain, [0], { hops: 3 })).toMatchObject({ counts: [1, 1, 1], isCut: false });
    expect(reach(chain, [0], { hops: 0 })).toMatchObject({ counts: [], isCut: true });
  });

  test('counts the nodes beyond the most that are listed, and leaves their edges out', () => {
    const star = edgesOf(
      1_001,
      Array.from({ length: 1_000 }, (_, index) => [0, index + 1] as const),
    );

    const found = reach(star, [0], { most: 3 });

    expect([...found.nodes]).toEqual([1, 2, 3]);
    expect([...found.edges]).toEqual([0, 1, 2]);
    expect(found.counts).toEqual([1_000]);
  });

  test('is each edge, where several lead the same way', () => {
    const twice = edgesOf(2, [
      [0, 1],
      [0, 1],
    ]);

    expect([...reach(twice, [0]).nodes]).toEqual([1]);
    expect([...reach(twice, [0]).edges]).toEqual([0, 1]);
  });
});

/** By the book: the distance of each node, relaxed until nothing changes. */
function distances(nodes: number, pairs: readonly (readonly [number, number])[], starts: readonly number[]) {
  const found = Array.from({ length: nodes }, (_, node) =>
    starts.includes(node) ? 0 : Number.POSITIVE_INFINITY,
  );
  for (let round = 0; round < nodes; round += 1)
    for (const [from, to] of pairs) found[to] = Math.min(found[to] ?? 0, (found[from] ?? 0) + 1);
  return found;
}

test('equals a naive search, on any graph, with circles, at any bound', () => {
  const graphs = fc.integer({ min: 1, max: 12 }).chain((nodes) => {
    const node = fc.nat(nodes - 1);
    return fc.record({
      nodes: fc.constant(nodes),
      pairs: fc.array(fc.tuple(node, node), { maxLength: 30 }),
      starts: fc.array(node, { maxLength: 3 }),
      hops: fc.integer({ min: 0, max: 13 }),
      most: fc.nat(13),
    });
  });

  fc.assert(
    fc.property(graphs, ({ nodes, pairs, starts, hops, most }) => {
      const far = distances(nodes, pairs, starts);
      const within = far.flatMap((distance, node) => (distance > 0 && distance <= hops ? [node] : []));

      const found = reach(edgesOf(nodes, pairs), starts, { hops, most });

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

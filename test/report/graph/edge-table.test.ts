import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createEdgeTable } from '../../../lib/report/graph/edge-table.ts';
import { type Edge, thingKey } from '../../../lib/report/graph/edges.ts';
import { kinds, relations } from '../../../lib/report/graph/graph.ts';
import { adjacencyOf, reach } from '../../../lib/model/graph/closure.ts';

const anyThing = fc.record({
  kind: fc.constantFrom(...kinds),
  id: fc.oneof(fc.nat(30).map(String), fc.string({ minLength: 1, maxLength: 3 })),
});

const anyEdge: fc.Arbitrary<Edge> = fc.record({
  user: anyThing,
  used: anyThing,
  relation: fc.constantFrom(...relations),
  valid: fc.constantFrom(undefined, 'ILLEGAL_REFERENCE', 'x'),
});

test('edges collected as hashes give what a map gives, and read as they were added', () => {
  fc.assert(
    fc.property(fc.array(anyEdge, { minLength: 1, maxLength: 60 }), (edges) => {
      const table = createEdgeTable();
      for (const edge of edges) table.add(edge);
      const start = edges[0]?.used ?? { kind: 'dataset', id: '' };

      const { nodes } = reach(adjacencyOf(table.edges()), [table.things.find(start) ?? -1]);

      const byNumber = new Map(
        edges
          .flatMap(({ user, used }) => [user, used])
          .map((each) => [table.things.find(each), thingKey(each)]),
      );
      expect([...nodes].map((node) => byNumber.get(node)).sort()).toEqual(usersByMap(edges, thingKey(start)));
      const read = edges.map((_, at) => table.edgeAt(at));
      expect(read.map(({ user, used, ...rest }) => [byNumber.get(user), byNumber.get(used), rest])).toEqual(
        edges.map(({ user, used, ...rest }) => [thingKey(user), thingKey(used), rest]),
      );
    }),
  );
});

/** Everything that uses a thing, directly or not, but itself; by maps and sets of texts. */
function usersByMap(edges: readonly Edge[], start: string): readonly string[] {
  const found = new Set([start]);
  for (const each of found)
    for (const { user, used } of edges) if (thingKey(used) === each) found.add(thingKey(user));
  found.delete(start);
  return [...found].sort();
}

test('a hundred thousand things keep their numbers', () => {
  const table = createEdgeTable();
  const things = Array.from(
    { length: 100_000 },
    (_, index) => ({ kind: 'card', id: String(index) }) as const,
  );

  const numbers = things.map(table.things.numberOf);

  expect(things.map(table.things.find)).toEqual(numbers);
  expect(new Set(numbers).size).toBe(100_000);
  expect(table.things.find({ kind: 'calculation', id: '1' })).toBeUndefined();
});

test('more texts of invalid links than are told apart read as one', () => {
  const table = createEdgeTable();
  const [user, used] = [{ kind: 'calculation', id: '1' } as const, { kind: 'dataset', id: 'd' } as const];

  for (let index = 0; index < 300; index += 1)
    table.add({ user, used, relation: 'saved on', valid: `text ${index}` });

  expect(table.edgeAt(0).valid).toBe('text 0');
  expect(table.edgeAt(299).valid).toBe('not VALID');
  expect(table.namings(1)).toEqual({ links: 300, broken: 300 });
});

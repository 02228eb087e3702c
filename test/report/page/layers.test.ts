import { expect, test } from 'vitest';
import { adjacencyOf } from '../../../lib/model/rules/index.ts';
import { layersOf } from '../../../lib/report/page/parts/layers.ts';
import { reachedFrom } from '../../../lib/report/page/state/report.ts';

/** A dataset with twelve calculations, of which a card uses the last. */
const graph = {
  others: [],
  user: [...Array.from({ length: 12 }, (_, index) => index + 1), 13],
  used: [...Array.from({ length: 12 }, () => 0), 12],
  relation: [],
  invalid: [],
};

const reached = reachedFrom(adjacencyOf({ nodes: 14, from: graph.used, to: graph.user }), 0);

test('every record that depends on another is listed once, nearest first, with the link that leads to it', () => {
  expect(reached).toHaveLength(13);
  expect(reached[0]).toEqual({ node: 1, hop: 1, edge: 0 });
  expect(reached.at(-1)).toEqual({ node: 13, hop: 2, edge: 12 });
});

test('the picture has at most ten boxes in a layer and the number of omitted ones, and every line has two ends', () => {
  const { boxes, lines } = layersOf(0, reached, ({ edge }) => graph.used[edge] ?? 0);

  expect(boxes.map(({ node, more }) => (more > 0 ? `+${more}` : node))).toEqual([
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    '+2',
    13,
  ]);
  expect(lines).toHaveLength(12);
  expect(lines.at(-1)?.from.more).toBe(2);
});

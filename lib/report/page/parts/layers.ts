import type { Reached } from '../state/report.ts';

/** A box of the drawing: a node, or the number of further nodes in its layer. Positions and sizes are in pixels. */
type Box = {
  readonly x: number;
  readonly y: number;
  readonly node: number | undefined;
  readonly more: number;
};

/** The width of a box, in pixels. */
export const BOX_WIDTH = 190;
/** The height of a box, in pixels. */
export const BOX_HEIGHT = 36;
const STEP_X = BOX_WIDTH + 46;
const STEP_Y = BOX_HEIGHT + 12;
const MAX_IN_LAYER = 10;
const MAX_LAYERS = 6;

/**
 * Lays out the nodes that were reached: a column for each hop, from left to right, with at most ten boxes and one more
 * box for the number of further nodes. `before`: returns the node from which a node was reached.
 */
export function layersOf(start: number, reached: readonly Reached[], before: (of: Reached) => number) {
  const layers = Array.from({ length: Math.min(MAX_LAYERS, reached.at(-1)?.hop ?? 0) }, (_, index) =>
    reached.filter(({ hop }) => hop === index + 1),
  );
  const boxesIn = (layer: readonly unknown[]) => Math.min(layer.length, MAX_IN_LAYER + 1);
  const height = Math.max(1, ...layers.map(boxesIn)) * STEP_Y - (STEP_Y - BOX_HEIGHT);
  const first: Box = { x: 0, y: (height - BOX_HEIGHT) / 2, node: start, more: 0 };
  const boxes = [first];
  const lines: { readonly from: Box; readonly to: Box }[] = [];
  // The box of each node; several nodes may have the same box.
  const drawn = new Map([[start, first]]);
  for (const [index, layer] of layers.entries()) {
    const top = (height - boxesIn(layer) * STEP_Y + (STEP_Y - BOX_HEIGHT)) / 2;
    const boxAt = (place: number, what: Pick<Box, 'node' | 'more'>) => {
      const box = { x: (index + 1) * STEP_X, y: top + place * STEP_Y, ...what };
      boxes.push(box);
      return box;
    };
    const join = (each: Reached, to: Box) => {
      const from = drawn.get(before(each));
      if (from !== undefined) lines.push({ from, to });
    };
    for (const [place, each] of layer.slice(0, MAX_IN_LAYER).entries()) {
      const box = boxAt(place, { node: each.node, more: 0 });
      drawn.set(each.node, box);
      join(each, box);
    }
    const [next, ...others] = layer.slice(MAX_IN_LAYER);
    if (next === undefined) continue;
    const box = boxAt(MAX_IN_LAYER, { node: undefined, more: others.length + 1 });
    for (const { node } of [next, ...others]) drawn.set(node, box);
    join(others.at(-1) ?? next, box);
  }
  return { boxes, lines, width: layers.length * STEP_X + BOX_WIDTH, height };
}

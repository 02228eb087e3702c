import type { Reached } from '../state/nodes.ts';

/** A box of the picture: a node, or how many more there are in its layer. Places and sizes are in pixels. */
export type Box = {
  readonly x: number;
  readonly y: number;
  readonly node: number | undefined;
  readonly more: number;
};

export type Line = { readonly from: Box; readonly to: Box };

export type Layers = {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
};

export const BOX_WIDTH = 190;
export const BOX_HEIGHT = 36;
const GAP_X = 46;
const GAP_Y = 12;
/** More would be read as a list. */
const MOST_IN_LAYER = 10;
const MOST_LAYERS = 6;

/**
 * The picture of what was reached: a column for each hop, from left to right, each with at most ten boxes, and at its end
 * how many more it has. `before` is the node that a reached one was reached from.
 */
export function layersOf(
  start: number,
  reached: readonly Reached[],
  before: (of: Reached) => number,
): Layers {
  const deepest = Math.min(MOST_LAYERS, reached.at(-1)?.hop ?? 0);
  const layers = Array.from({ length: deepest }, (_, index) =>
    reached.filter(({ hop }) => hop === index + 1),
  );
  const rows = Math.max(1, ...layers.map(({ length }) => Math.min(length, MOST_IN_LAYER + 1)));
  const height = rows * (BOX_HEIGHT + GAP_Y) - GAP_Y;
  const boxOf = (layer: number, place: number, of: number, what: Pick<Box, 'node' | 'more'>): Box => {
    const used = of * (BOX_HEIGHT + GAP_Y) - GAP_Y;
    return { x: layer * (BOX_WIDTH + GAP_X), y: (height - used) / 2 + place * (BOX_HEIGHT + GAP_Y), ...what };
  };
  const first = boxOf(0, 0, 1, { node: start, more: 0 });
  const boxes: Box[] = [first];
  const lines: Line[] = [];
  const drawn = new Map([[start, first]]);
  for (const [index, layer] of layers.entries()) {
    const shown = layer.slice(0, MOST_IN_LAYER);
    const total = shown.length + (layer.length > shown.length ? 1 : 0);
    const previous = [...drawn.values()];
    for (const [place, each] of shown.entries()) {
      const box = boxOf(index + 1, place, total, { node: each.node, more: 0 });
      boxes.push(box);
      drawn.set(each.node, box);
      const from =
        drawn.get(before(each)) ?? boxes.find(({ x, more }) => more > 0 && x === index * (BOX_WIDTH + GAP_X));
      if (from !== undefined) lines.push({ from, to: box });
    }
    if (total > shown.length) {
      const box = boxOf(index + 1, total - 1, total, { node: undefined, more: layer.length - shown.length });
      boxes.push(box);
      const from = drawn.get(before(layer.at(-1) ?? { node: start, hop: 0, edge: -1 })) ?? previous.at(-1);
      if (from !== undefined && from.x === index * (BOX_WIDTH + GAP_X)) lines.push({ from, to: box });
    }
  }
  return { boxes, lines, width: (deepest + 1) * (BOX_WIDTH + GAP_X) - GAP_X, height };
}

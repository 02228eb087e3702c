import { groupsOf, type RowGroup, type SourceColumns, type Things } from '../../model/index.ts';

/** A row group, and the rows of it that are the first record of a thing, in the order of these. */
export type HeldGroup = { readonly group: RowGroup; readonly rows: Uint32Array };

export type HeldThings = {
  readonly source: SourceColumns | undefined;
  readonly kind: 'calculation' | 'card';
  readonly things: Things;
  /** Of the things whose records the source holds, in the order of their first records. */
  readonly nodes: Uint32Array;
  /** How many records the source has, as its manifests say. */
  readonly records: number;
  readonly signal: AbortSignal;
};

/** The records of a source by which the model knows calculations or cards: the first of each. */
export async function* heldGroups(held: HeldThings): AsyncGenerator<HeldGroup> {
  const { source, kind, things, nodes, records, signal } = held;
  let next = 0;
  for await (const group of groupsOf(source, 'records')) {
    signal.throwIfAborted();
    if (records === nodes.length) {
      // Each record is the only one of its thing.
      yield { group, rows: Uint32Array.from({ length: group.rows }, (_, row) => row) };
      continue;
    }
    const ids = await group.texts('id', (utf8) => things.nodeOfId(kind, utf8));
    const rows = new Uint32Array(group.rows);
    let count = 0;
    for (let row = 0; row < group.rows; row += 1) {
      if (next === nodes.length || ids[row] !== nodes[next]) continue;
      rows[count] = row;
      count += 1;
      next += 1;
    }
    yield { group, rows: rows.subarray(0, count) };
  }
}

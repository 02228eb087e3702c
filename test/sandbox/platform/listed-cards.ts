import type { PlatformState } from '../../../lib/sandbox/platform/state.ts';

type Listed = { readonly id: number; readonly drills?: readonly Listed[] };

/** The cards that a list shows, a drill inside another card too, each once, by id. */
export function cardsListed({ cards }: PlatformState, datasetIndex: number, drill = true): readonly Listed[] {
  const withDrills = (card: Listed): readonly Listed[] => [card, ...(card.drills ?? []).flatMap(withDrills)];
  const rows: readonly Listed[] = cards.listed(datasetIndex, drill);
  // Rows come before what stands inside one.
  const all = [...rows, ...rows.flatMap(withDrills)];
  return [...new Map(all.toReversed().map((card) => [card.id, card])).values()].toSorted(
    (a, b) => a.id - b.id,
  );
}

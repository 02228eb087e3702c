import type { PlatformState } from '../../../lib/sandbox/platform/state.ts';

type Listed = { readonly id: number; readonly drills?: readonly Listed[] };

/** The cards in a list, including drills inside other cards, once each, ordered by id. */
export function cardsListed({ cards }: PlatformState, datasetIndex: number, drill = true): readonly Listed[] {
  const withDrills = (card: Listed): readonly Listed[] => [card, ...(card.drills ?? []).flatMap(withDrills)];
  const rows: readonly Listed[] = cards.listed(datasetIndex, drill);
  // Rows come before the drills inside them.
  const all = [...rows, ...rows.flatMap(withDrills)];
  return [...new Map(all.toReversed().map((card) => [card.id, card])).values()].toSorted(
    (a, b) => a.id - b.id,
  );
}

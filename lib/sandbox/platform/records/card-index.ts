import { cardAt, type SeededCard } from './cards.ts';
import type { Dataset } from './datasets.ts';

/** The cards of each dataset, by the dataset's index, in the order of their ids. */
export type CardIndex = { of(datasetIndex: number): readonly SeededCard[] };

export function createCardIndex(seed: number, cards: number, datasets: readonly Dataset[]): CardIndex {
  const byDataset: SeededCard[][] = datasets.map(() => []);
  const ids = datasets.map(({ id }) => id);
  for (let index = 0; index < cards && datasets.length > 0; index += 1) {
    const card = cardAt(seed, index, ids);
    byDataset[card.datasetIndex]?.push(card);
  }
  return { of: (datasetIndex) => byDataset[datasetIndex] ?? [] };
}

import type { Use } from '../../model/rules/index.ts';
import type { CalculationFacts, CardFacts, DatasetFacts } from '../facts.ts';
import type { Graph } from '../graph/graph.ts';
import { countCalculations } from './calculations.ts';
import { countCards } from './cards.ts';
import { createDatasets } from './datasets.ts';
import { createEdgeList } from './edge-list.ts';
import type { ListLimits } from './list-limits.ts';
import { noPlaces } from './places.ts';
import type { RunRecords } from './run-records.ts';

export type CatalogToRead = {
  /** Undefined if none was published. */
  readonly calculations: RunRecords | undefined;
  readonly cards: RunRecords | undefined;
  readonly limits: ListLimits;
};

export type Catalog = {
  readonly calculations: CalculationFacts | undefined;
  readonly cards: CardFacts | undefined;
  readonly datasets: DatasetFacts | undefined;
  readonly graph: Graph;
};

/** Calculations, cards, the datasets that they name, and who uses whom. Each run is read twice. */
export async function readCatalog({ calculations, cards, limits }: CatalogToRead): Promise<Catalog> {
  const datasets = createDatasets(limits);
  const countedCalculations = calculations && (await countCalculations(calculations, datasets.add, limits));
  const countedCards = cards && (await countCards(cards, datasets.add, limits));
  datasets.choose();
  const edges = createEdgeList({
    dataset: datasets,
    calculation: countedCalculations?.places ?? noPlaces,
    card: countedCards?.places ?? noPlaces,
  });
  const sink = {
    listed: (all: readonly Use[]) => {
      for (const edge of all) {
        edges.add(edge);
        datasets.name(edge);
      }
    },
    other: (all: readonly Use[]) => {
      for (const edge of all) datasets.name(edge);
    },
    isWanting: datasets.isWanting,
  };
  const facts = {
    calculations: await countedCalculations?.list(sink),
    cards: await countedCards?.list(sink),
  };
  const isKnown = calculations !== undefined || cards !== undefined;
  return { ...facts, datasets: isKnown ? datasets.facts() : undefined, graph: edges.graph() };
}

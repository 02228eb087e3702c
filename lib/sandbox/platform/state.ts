import { createCalculationIds } from './calculations/calculation-ids.ts';
import { type CalculationSearch, createCalculationSearch } from './calculations/calculation-search.ts';
import { type CalculationTable, createCalculationTable } from './calculations/calculation-table.ts';
import { createFormulas, type Formulas } from './calculations/formulas.ts';
import { seededCalculation, seededReferences } from './calculations/seeded-calculation.ts';
import { createFileSearch, type SearchFiles } from './files/file-search.ts';
import { createFileSet, type FileSet } from './files/file-set.ts';
import { checkStateOptions, type ResolvedStateOptions, type StateOptions } from './options.ts';
import { type CardRow, cardAt, type Drills, holdsDrills, type SeededCard } from './records/cards.ts';
import { type DataFile, dataFileAt, dataFileId } from './records/data-files.ts';
import { type Dataset, datasetAt, goneDatasets } from './records/datasets.ts';
import { randomFor } from './records/random.ts';

/** Everything that the platform stores. Same options, same records; requests and churn change it. */
export type PlatformState = {
  readonly seed: number;
  readonly now: () => number;
  readonly datasets: readonly Dataset[];
  /** The status of those that are gone, by id. */
  readonly goneDatasets: ReadonlyMap<string, 404 | 410>;
  readonly cards: CardIndex;
  readonly calculations: CalculationTable;
  readonly searchCalculations: CalculationSearch;
  readonly formulas: Formulas;
  readonly fileSets: readonly FileSet[];
  /** Takes a UUID in either case. */
  readonly searchFiles: (fileSetId: string) => SearchFiles | undefined;
  readonly dataFileIds: readonly string[];
  readonly dataFile: (id: string) => DataFile | undefined;
};

/** Throws a `TypeError` on wrong options. */
export function createPlatformState(options: StateOptions = {}): PlatformState {
  const resolved = checkStateOptions(options);
  const { seed, now } = resolved;
  const datasets = Array.from({ length: resolved.datasets }, (_, index) => datasetAt(seed, index));
  const cards = createCardIndex(seed, resolved.cards, datasets);
  return {
    seed,
    now,
    datasets,
    goneDatasets: goneDatasets(seed),
    cards,
    ...calculationsOf(resolved, datasets, cards),
    ...filesOf(resolved),
    ...dataFilesOf(resolved),
  };
}

function calculationsOf(
  { seed, calculations: seeded, now }: ResolvedStateOptions,
  datasets: readonly Dataset[],
  cards: CardIndex,
): Pick<PlatformState, 'calculations' | 'searchCalculations' | 'formulas'> {
  const ids = createCalculationIds(seed, seeded);
  const surroundings = { seed, seeded, ids, datasets, cardsOf: cards.of };
  const calculations = createCalculationTable({
    seeded,
    idOf: ids.idOf,
    sequenceOf: ids.sequenceOf,
    draw: (sequence) => seededCalculation(surroundings, sequence),
    references: (sequence) => seededReferences(surroundings, sequence),
    now,
  });
  const formulas = createFormulas(seed, datasets);
  return { calculations, formulas, searchCalculations: createCalculationSearch(calculations, formulas) };
}

function filesOf({
  seed,
  fileSets: count,
  filesPerSet,
  now,
}: ResolvedStateOptions): Pick<PlatformState, 'fileSets' | 'searchFiles'> {
  const fileSets = Array.from({ length: count }, (_, index) =>
    createFileSet({ seed, id: randomFor(seed, 'FileSet', index).uuid(), seeded: filesPerSet, now }),
  );
  const searches = new Map(fileSets.map((fileSet) => [fileSet.id, createFileSearch(fileSet)]));
  return { fileSets, searchFiles: (fileSetId) => searches.get(fileSetId.toLowerCase()) };
}

function dataFilesOf({
  seed,
  dataFiles: count,
}: ResolvedStateOptions): Pick<PlatformState, 'dataFileIds' | 'dataFile'> {
  const dataFileIds = Array.from({ length: count }, (_, index) => String(dataFileId(seed, index)));
  return {
    dataFileIds,
    dataFile(id) {
      const index = dataFileIds.indexOf(id);
      return index < 0 ? undefined : dataFileAt(seed, index);
    },
  };
}

type CardIndex = {
  of(datasetIndex: number): readonly SeededCard[];
  /** The rows of a list of cards. A card may hold its drills inside; those of its own dataset have no row then. */
  listed(datasetIndex: number, withDrill: boolean): readonly (CardRow & Partial<Drills>)[];
};

function createCardIndex(seed: number, cards: number, datasets: readonly Dataset[]): CardIndex {
  const byDataset: SeededCard[][] = datasets.map(() => []);
  const byId = new Map<number, SeededCard>();
  const inside = new Map<number, SeededCard[]>();
  const ids = datasets.map(({ id }) => id);
  for (let index = 0; index < cards && datasets.length > 0; index += 1) {
    const card = cardAt(seed, index, ids);
    byDataset[card.datasetIndex]?.push(card);
    byId.set(card.row.id, card);
    if (card.rootId !== undefined && holdsDrills(card.rootId))
      inside.set(card.rootId, [...(inside.get(card.rootId) ?? []), card]);
  }
  const of = (datasetIndex: number) => byDataset[datasetIndex] ?? [];
  const isInside = ({ rootId = 0, datasetIndex }: SeededCard) =>
    holdsDrills(rootId) && byId.get(rootId)?.datasetIndex === datasetIndex;
  const drillsOf = (rootId: number): Partial<Drills> => {
    const drills = inside.get(rootId)?.map(({ row: { id, urn, title, datasourceId } }) => ({
      ...{ id, urn, title, datasetId: datasourceId },
      ...drillsOf(id),
    }));
    return drills === undefined ? {} : { drills };
  };
  return {
    of,
    listed: (datasetIndex, withDrill) =>
      withDrill
        ? of(datasetIndex)
            .filter((card) => !isInside(card))
            .map(({ row }) => ({ ...row, ...drillsOf(row.id) }))
        : of(datasetIndex).flatMap(({ row, rootId }) => (rootId === undefined ? [row] : [])),
  };
}

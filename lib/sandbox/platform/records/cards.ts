import { drawFor, itemsOf, type Random, randomFor } from './random.ts';

/** A card as the platform lists it. */
type CardRow = {
  readonly id: number;
  readonly urn: string;
  readonly type: string;
  readonly chartType: string;
  readonly title: string;
  readonly ownerId: number;
  readonly owners: readonly {
    readonly id: string;
    readonly type: 'USER' | 'GROUP';
    readonly displayName: string;
  }[];
  readonly access: boolean;
  readonly datasourceId: string;
};

/** A card, and where it belongs. */
export type SeededCard = {
  readonly row: CardRow;
  readonly datasetIndex: number;
  /** The root card of the drill path to which the card belongs; undefined for a standalone card. */
  readonly rootId: number | undefined;
};

/** The steps of a card's drill paths, which may be built on other datasets. */
export type Drills = {
  readonly drills: readonly (Pick<CardRow, 'id' | 'urn' | 'title'> & {
    readonly datasetId: string;
  } & Partial<Drills>)[];
};

/** Whether a card's row contains its drills. */
const containsDrills = (rootId: number): boolean => rootId % 2 === 0;

/** The share of cards that are a step of a drill path: one in six. */
const DRILL_SHARE = 1 / 6;

function cardId(seed: number, index: number): number {
  return 1_200_000_000 + index * 3_917 + randomFor(seed, 'card id', index).below(3_900);
}

/**
 * The card with this index, which is based on one of the datasets. The first card is never in a drill path, so that
 * every drill has a root before it.
 */
function cardAt(seed: number, index: number, datasetIds: readonly string[]): SeededCard {
  const random = randomFor(seed, 'card', index);
  const datasetIndex = random.below(datasetIds.length);
  const rootId = index > 0 && random.chance(DRILL_SHARE) ? cardId(seed, random.below(index)) : undefined;
  const id = cardId(seed, index);
  const owner = userAt(seed, ownerFor(seed, 'card owner', index));
  const chartType = random.pick(CHART_TYPES);
  const row: CardRow = {
    id,
    urn: rootId === undefined ? String(id) : `dr:${id}:${rootId}`,
    type: chartType === 'badge_document' ? 'document' : 'kpi',
    chartType,
    title: `${random.pick(MEASURES)} ${random.pick(BY)}`,
    ownerId: owner.id,
    owners: ownersOf(seed, random, owner),
    access: !random.chance(0.06),
    datasourceId: datasetIds[datasetIndex] ?? '',
  };
  return { row, datasetIndex, rootId };
}

/** Creates all cards, and an index of them by dataset. */
export function createCardIndex(seed: number, cards: number, datasets: readonly { readonly id: string }[]) {
  const byDataset: SeededCard[][] = datasets.map(() => []);
  const byId = new Map<number, SeededCard>();
  const containedDrills = new Map<number, SeededCard[]>();
  const ids = datasets.map(({ id }) => id);
  for (let index = 0; index < cards && datasets.length > 0; index += 1) {
    const card = cardAt(seed, index, ids);
    byDataset[card.datasetIndex]?.push(card);
    byId.set(card.row.id, card);
    if (card.rootId !== undefined && containsDrills(card.rootId))
      containedDrills.set(card.rootId, [...(containedDrills.get(card.rootId) ?? []), card]);
  }
  const ofDataset = (datasetIndex: number): readonly SeededCard[] => byDataset[datasetIndex] ?? [];
  const isContained = ({ rootId = 0, datasetIndex }: SeededCard) =>
    containsDrills(rootId) && byId.get(rootId)?.datasetIndex === datasetIndex;
  const drillsOf = (rootId: number): Partial<Drills> => {
    const drills = containedDrills.get(rootId)?.map(({ row: { id, urn, title, datasourceId } }) => ({
      id,
      urn,
      title,
      datasetId: datasourceId,
      ...drillsOf(id),
    }));
    return drills === undefined ? {} : { drills };
  };
  return {
    /** All cards of a dataset, with its drills. */
    ofDataset,
    /**
     * The rows of a dataset's cards. Some rows contain the card's drills; a drill on the same dataset then has no
     * separate row. Without `withDrill`, no drill is listed.
     */
    listed: (datasetIndex: number, withDrill: boolean): readonly (CardRow & Partial<Drills>)[] =>
      withDrill
        ? ofDataset(datasetIndex)
            .filter((card) => !isContained(card))
            .map(({ row }) => ({ ...row, ...drillsOf(row.id) }))
        : ofDataset(datasetIndex).flatMap(({ row, rootId }) => (rootId === undefined ? [row] : [])),
  };
}

function ownersOf(
  seed: number,
  random: Random,
  owner: { id: number; displayName: string },
): CardRow['owners'] {
  const owners: CardRow['owners'][number][] = [
    { id: String(owner.id), type: 'USER', displayName: owner.displayName },
  ];
  if (random.chance(0.2)) {
    const group = groupAt(seed, random.below(12));
    owners.push({ id: String(group.id), type: 'GROUP', displayName: group.displayName });
  }
  return owners;
}

const CHART_TYPES = itemsOf`badge_vert_bar|badge_line|badge_pie|badge_table|badge_singlevalue|badge_map|badge_heatmap|
  badge_two_trendline|badge_pivot_table|badge_document`;

const MEASURES = itemsOf`Revenue|Orders|Margin %|Pipeline|Churn|Umsatz|Coût moyen|On-time shipments|売上`;
const BY = itemsOf`by region|by month|vs. target|YTD|last 30 days|by rep|– top 10|per Kunde|(draft)`;

/** A user or a group. Groups own cards, never calculations. */
type Owner = { readonly id: number; readonly displayName: string };

const USERS = 120;
const GROUPS = 12;

function userAt(seed: number, index: number): Owner {
  const number = index % USERS;
  const random = randomFor(seed, 'user', number);
  const id = userIdAt(seed, number);
  return { id, displayName: `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}` };
}

/** The id of the user with this index; every 120th index is the same user. */
export function userIdAt(seed: number, index: number): number {
  const number = index % USERS;
  return 100_000_000 + number * 7_301 + Math.floor(drawFor(seed, 'user id', number) * 7_000);
}

/** The index of the user that owns record `index` of a stream; a few users own many records. */
export function ownerFor(seed: number, stream: string, index: number): number {
  return Math.floor(drawFor(seed, stream, index) ** 2 * USERS);
}

function groupAt(seed: number, index: number): Owner {
  const number = index % GROUPS;
  const id = 900_000_000 + number * 911 + randomFor(seed, 'group', number).below(900);
  return { id, displayName: GROUP_NAMES[number % GROUP_NAMES.length] ?? 'Group' };
}

const FIRST_NAMES = itemsOf`Aisha|Ana|Björn|Chloé|Dmitri|Elif|Fatima|Grace|Hiroshi|Ingrid|João|Katarzyna|Liam|María|Noor|
  Olga|Priya|Quentin|Rui|Søren|Thảo|Uma|Víctor|Wanjiru|莉|健`;

const LAST_NAMES = itemsOf`Andersson|Bauer|Chen|Díaz|Ekström|Fernández|García|Haddad|Ivanova|Jørgensen|Kowalska|Lefèvre|
  Müller|Nguyễn|O'Brien|Patel|Quispe|Rossi|Smith|Tanaka|Ünal|Van der Berg|山田`;

const GROUP_NAMES = itemsOf`Finance|Sales Ops|Marketing EMEA|Data Platform|Executives|Supply Chain|Customer Success|HR|
  Product Analytics|Ventas LATAM|Qualité|Field & Partners`;

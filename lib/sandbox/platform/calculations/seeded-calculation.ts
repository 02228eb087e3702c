import type { SeededCard } from '../records/cards.ts';
import { type Dataset, goneDatasetId } from '../records/datasets.ts';
import { ownerFor, userIdAt } from '../records/people.ts';
import { drawFor, type Random, randomFor, SEEDED_FROM_MS, SEEDED_UNTIL_MS } from '../records/random.ts';
import { type Calculation, type Link, link, type Reference } from './calculation.ts';
import type { CalculationIds } from './calculation-ids.ts';
import { calculationName } from './calculation-name.ts';

export type Surroundings = {
  readonly seed: number;
  readonly seeded: number;
  readonly ids: CalculationIds;
  readonly datasets: readonly Dataset[];
  readonly cardsOf: (datasetIndex: number) => readonly SeededCard[];
};

type Kind = 'on-dataset' | 'on-card' | 'free' | 'variable' | 'orphaned';

/** Calculation `sequence`, drawn from the seed alone. One that is added later has the last seeded creation time. */
export function seededCalculation(at: Surroundings, sequence: number): Calculation {
  const random = randomFor(at.seed, 'calculation', sequence);
  const kind = at.datasets.length === 0 ? 'free' : drawKind(random);
  const onDataset = kind === 'on-dataset' || kind === 'on-card';
  const datasetIndex = onDataset ? random.below(at.datasets.length) : undefined;
  const created = createdMs(at, sequence);
  const broken = kind === 'orphaned' || (kind !== 'variable' && random.chance(0.02));
  return {
    sequence,
    id: at.ids.idOf(sequence),
    name: calculationName(
      random,
      datasetIndex === undefined ? undefined : at.datasets[datasetIndex],
      kind === 'variable',
    ),
    owner: userIdAt(at.seed, ownerFor(at.seed, 'calculation owner', sequence)),
    lastModified: created + Math.floor(random.next() ** 3 * Math.max(0, SEEDED_UNTIL_MS - created)),
    created,
    global: random.chance(0.03),
    locked: random.chance(0.04),
    legacyId: `calculation_${random.uuid()}`,
    status: broken ? 'INVALID' : 'VALID',
    links: linksOf(at, random, kind, datasetIndex),
    archived: random.chance(0.06),
    hidden: random.chance(0.03),
    variable: kind === 'variable',
    cacheWindow: random.chance(0.7) ? 'non_dynamic' : 'day',
    datasetIndex,
    references: referencesOf(at, sequence, kind),
    expression: undefined,
  };
}

function drawKind(random: Random): Kind {
  const draw = random.next();
  if (draw < 0.72) return 'on-dataset';
  if (draw < 0.92) return 'on-card';
  if (draw < 0.96) return 'free';
  return draw < 0.98 ? 'variable' : 'orphaned';
}

function createdMs(at: Surroundings, sequence: number): number {
  return sequence < at.seeded ? seededCreationMs(at.seed, sequence, at.seeded) : SEEDED_UNTIL_MS;
}

const kindOf = (at: Surroundings, sequence: number): Kind =>
  at.datasets.length === 0 ? 'free' : drawKind(randomFor(at.seed, 'calculation', sequence));

/** What the formula of calculation `sequence` refers to, without drawing all of it. */
export const seededReferences = (at: Surroundings, sequence: number): readonly Reference[] =>
  refers(at.seed, sequence) ? referencesOf(at, sequence, kindOf(at, sequence)) : [];

/** An older calculation, so that references nest and never lead back: some refer to others themselves, some are variables. */
function referencesOf(at: Surroundings, sequence: number, kind: Kind): readonly Reference[] {
  if (kind !== 'on-dataset' || !refers(at.seed, sequence)) return [];
  let target = Math.floor(drawFor(at.seed, 'refers to', sequence) * sequence);
  const draw = drawFor(at.seed, 'refers to a kind', sequence);
  const fits = (each: number) =>
    draw < 0.3 ? refers(at.seed, each) : draw >= 0.4 || kindOf(at, each) === 'variable';
  while (target > 0 && !fits(target)) target -= 1;
  if (target === 0) return [];
  const isVariable = kindOf(at, target) === 'variable';
  return [{ kind: isVariable ? 'variable' : 'calculation', id: at.ids.idOf(target), valid: 'VALID' }];
}

function refers(seed: number, sequence: number): boolean {
  return drawFor(seed, 'refers', sequence) < 0.05;
}

/** To datasets and cards. Which calculations refer to this one is added by the table. */
function linksOf(
  at: Surroundings,
  random: Random,
  kind: Kind,
  datasetIndex: number | undefined,
): readonly Link[] {
  if (kind === 'orphaned')
    return [link('DATA_SOURCE', goneDatasetId(at.seed, random), true, 'ILLEGAL_REFERENCE')];
  if (datasetIndex === undefined) return [];
  const links = [link('DATA_SOURCE', at.datasets[datasetIndex]?.id ?? '', kind === 'on-dataset', 'VALID')];
  const cards = at.cardsOf(datasetIndex);
  const uses = cards.length === 0 ? 0 : kind === 'on-card' ? 1 : Math.floor(random.next() ** 2 * 4);
  for (let use = 0; use < Math.min(uses, cards.length); use += 1) {
    const card = cards[(random.below(cards.length) + use) % cards.length];
    if (card === undefined || links.some(({ resource }) => resource.id === cardLinkId(card))) continue;
    links.push(link('CARD', cardLinkId(card), false, random.chance(0.02) ? 'INCOMPATIBLE_LINK' : 'VALID'));
  }
  return links;
}

/** `dr:<drill id>:<root card id>` for a card in a drill path; otherwise the ids of the card and its main page. */
function cardLinkId({ row, rootId }: SeededCard): string {
  return rootId === undefined ? `${row.id}:${row.id % 9_973}` : `dr:${row.id}:${rootId}`;
}

/** Records from one import share their creation time: blocks of these sizes, with these chances. */
const IMPORTS = [
  { size: 256, chance: 0.03 },
  { size: 16, chance: 0.12 },
] as const;

/** Epoch milliseconds: never before the previous record, and not unique. */
function seededCreationMs(seed: number, sequence: number, seeded: number): number {
  for (const { size, chance } of IMPORTS) {
    const block = Math.floor(sequence / size);
    if (drawFor(seed, `import of ${size}`, block) < chance) return momentOf(seed, block * size, seeded);
  }
  return momentOf(seed, sequence, seeded);
}

function momentOf(seed: number, sequence: number, seeded: number): number {
  const stepMs = (SEEDED_UNTIL_MS - SEEDED_FROM_MS) / (seeded + 1);
  return Math.floor(SEEDED_FROM_MS + (sequence + drawFor(seed, 'created', sequence)) * stepMs);
}

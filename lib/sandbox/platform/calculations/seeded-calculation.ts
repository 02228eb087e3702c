import type { SeededCard } from '../records/cards.ts';
import type { Dataset } from '../records/datasets.ts';
import { ownerFor, userIdAt } from '../records/people.ts';
import { drawFor, type Random, randomFor, SEEDED_FROM_MS, SEEDED_UNTIL_MS } from '../records/random.ts';
import type { Calculation, FormulaReference, Link } from './calculation.ts';
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
  const references = referencesOf(at, sequence, kind);
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
    links: linksOf(at, random, { kind, datasetIndex, references }),
    archived: random.chance(0.06),
    hidden: random.chance(0.03),
    variable: kind === 'variable',
    cacheWindow: random.chance(0.7) ? 'non_dynamic' : 'day',
    datasetIndex,
    references,
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

/** References are one level deep: a calculation with a reference is never itself referred to. */
function referencesOf(at: Surroundings, sequence: number, kind: Kind): readonly FormulaReference[] {
  if (kind !== 'on-dataset' || !refers(at.seed, sequence)) return [];
  let target = Math.floor(drawFor(at.seed, 'refers to', sequence) * sequence);
  while (target > 0 && refers(at.seed, target)) target -= 1;
  if (target === 0) return [];
  const isVariable = drawKind(randomFor(at.seed, 'calculation', target)) === 'variable';
  return [{ kind: isVariable ? 'variable' : 'calculation', id: at.ids.idOf(target) }];
}

function refers(seed: number, sequence: number): boolean {
  return drawFor(seed, 'refers', sequence) < 0.05;
}

type LinkFacts = {
  readonly kind: Kind;
  readonly datasetIndex: number | undefined;
  readonly references: readonly FormulaReference[];
};

function linksOf(
  at: Surroundings,
  random: Random,
  { kind, datasetIndex, references }: LinkFacts,
): readonly Link[] {
  if (kind === 'orphaned') return [link('DATA_SOURCE', random.uuid(), true, 'ILLEGAL_REFERENCE')];
  if (datasetIndex === undefined) return [];
  const links = [link('DATA_SOURCE', at.datasets[datasetIndex]?.id ?? '', kind === 'on-dataset', 'VALID')];
  const cards = at.cardsOf(datasetIndex);
  const uses = cards.length === 0 ? 0 : kind === 'on-card' ? 1 : Math.floor(random.next() ** 2 * 4);
  for (let use = 0; use < Math.min(uses, cards.length); use += 1) {
    const card = cards[(random.below(cards.length) + use) % cards.length];
    if (card === undefined || links.some(({ resource }) => resource.id === cardLinkId(card))) continue;
    links.push(link('CARD', cardLinkId(card), false, random.chance(0.02) ? 'INCOMPATIBLE_LINK' : 'VALID'));
  }
  return [...links, ...references.map(({ id }) => link('FUNCTION_TEMPLATE', id, false, 'VALID'))];
}

/** `dr:<drill id>:<root card id>` for a card in a drill path; otherwise the ids of the card and its main page. */
function cardLinkId({ row, rootId }: SeededCard): string {
  return rootId === undefined ? `${row.id}:${row.id % 9_973}` : `dr:${row.id}:${rootId}`;
}

export function link(
  type: Link['resource']['type'],
  id: string,
  visible: boolean,
  valid: Link['valid'],
): Link {
  return { resource: { type, id }, visible, active: valid === 'VALID', valid };
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

import { createCalculationSearch } from './calculations/calculation-search.ts';
import {
  type Calculation,
  createCalculationTable,
  type Link,
  link,
  type Reference,
} from './calculations/calculation-table.ts';
import { createFormulas } from './calculations/formulas.ts';
import { createFileSearch } from './files/file-search.ts';
import { createFileSet, type FileSet } from './files/file-set.ts';
import type { ResolvedOptions } from './options.ts';
import { createCardIndex, ownerFor, type SeededCard, userIdAt } from './records/cards.ts';
import { type Dataset, datasetAt, goneDatasetId, goneDatasets } from './records/datasets.ts';
import {
  drawFor,
  itemsOf,
  type Random,
  randomFor,
  SEEDED_FROM_MS,
  SEEDED_UNTIL_MS,
} from './records/random.ts';

/** Everything that the platform stores. */
export type PlatformState = ReturnType<typeof createPlatformState>;

/**
 * Creates the records of the platform. The same options always create the same records; requests and churn change them.
 */
export function createPlatformState(options: ResolvedOptions) {
  const { seed, now } = options;
  const datasets: readonly Dataset[] = Array.from({ length: options.datasets }, (_, index) =>
    datasetAt(seed, index),
  );
  const cards = createCardIndex(seed, options.cards, datasets);
  return {
    seed,
    now,
    datasets,
    /** The status of each dataset that no longer exists, by id. */
    goneDatasets: goneDatasets(seed),
    cards,
    ...createCalculations(options, datasets, cards),
    ...createFiles(options),
    ...createDataFiles(options),
  };
}

function createCalculations(
  { seed, calculations: seeded, now }: ResolvedOptions,
  datasets: readonly Dataset[],
  cards: ReturnType<typeof createCardIndex>,
) {
  const ids = createCalculationIds(seed, seeded);
  const context = { seed, seeded, ids, datasets, cardsOf: cards.ofDataset };
  const calculations = createCalculationTable({
    seeded,
    idOf: ids.idOf,
    sequenceOf: ids.sequenceOf,
    draw: (sequence) => seededCalculation(context, sequence),
    references: (sequence) => seededReferences(context, sequence),
    now,
  });
  const formulas = createFormulas(seed, datasets);
  return { calculations, formulas, searchCalculations: createCalculationSearch(calculations, formulas) };
}

function createFiles({ seed, fileSets: count, filesPerSet, now }: ResolvedOptions) {
  const fileSets: readonly FileSet[] = Array.from({ length: count }, (_, index) =>
    createFileSet({ seed, id: randomFor(seed, 'FileSet', index).uuid(), seeded: filesPerSet, now }),
  );
  const searches = new Map(fileSets.map((fileSet) => [fileSet.id, createFileSearch(fileSet)]));
  return {
    fileSets,
    /** The search of the FileSet with this UUID, in upper or lower case; undefined if that FileSet does not exist. */
    searchFiles: (fileSetId: string) => searches.get(fileSetId.toLowerCase()),
  };
}

function createDataFiles({ seed, dataFiles: count }: ResolvedOptions) {
  const dataFileIds: readonly string[] = Array.from({ length: count }, (_, index) =>
    String(dataFileId(seed, index)),
  );
  return {
    dataFileIds,
    dataFile(id: string) {
      const index = dataFileIds.indexOf(id);
      return index < 0 ? undefined : dataFileAt(seed, index);
    },
  };
}

/** The id of the data file with this index; ids ascend, with gaps. */
function dataFileId(seed: number, index: number): number {
  return 40_001 + index * 29 + randomFor(seed, 'data file id', index).below(29);
}

function dataFileAt(seed: number, index: number) {
  const random = randomFor(seed, 'data file', index);
  const id = dataFileId(seed, index);
  const { extension, contentType } = random.pick(KINDS);
  const datetimeCreated =
    SEEDED_FROM_MS + Math.floor(random.next() * (SEEDED_UNTIL_MS - SEEDED_FROM_MS) * 0.8);
  const revisions = Array.from({ length: 1 + random.below(6) }, (_, number) =>
    revisionAt(seed, random, { id, number, contentType, createdMs: datetimeCreated }),
  );
  return {
    dataFileId: id,
    name: `${random.pick(NAMES)}.${extension}`,
    responsibleUserId: userIdAt(seed, random.below(120)),
    datetimeCreated,
    revisions,
    existing: !random.chance(0.04),
  };
}

/**
 * The revision with this number (0 is the first), about a month after the previous revision. Hashes are upper-case hex.
 */
function revisionAt(
  seed: number,
  random: Random,
  file: {
    readonly id: number;
    readonly number: number;
    readonly contentType: string;
    readonly createdMs: number;
  },
) {
  const { id, number, contentType, createdMs } = file;
  return {
    dataFileRevisionId: id * 100 + number,
    dataFileId: id,
    contentType,
    uploadUserId: userIdAt(seed, random.below(120)),
    sizeBytes: 200 + Math.floor(random.next() ** 4 * 50_000_000),
    uploadTimeMillis: 40 + random.below(9_000),
    md5Hash: random.hex(32).toUpperCase(),
    datetimeUploaded: createdMs + number * 2_592_000_000 + random.below(86_400_000),
    scanState: random.chance(0.95) ? 'SAFE' : 'PENDING',
    sha256HashValue: random.hex(64).toUpperCase(),
  };
}

const NAMES = itemsOf`avatar|q3-forecast|customer list (final)|Kundenliste|logo|budget_2025|export|manual entries|
  región-mapping|請求書|price list|targets`;

const KINDS = [
  { extension: 'csv', contentType: 'text/csv' },
  { extension: 'xlsx', contentType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' },
  { extension: 'png', contentType: 'image/png' },
  { extension: 'pdf', contentType: 'application/pdf' },
  { extension: 'json', contentType: 'application/json' },
] as const;

/** What the records of calculations are drawn from. */
type SeedContext = {
  readonly seed: number;
  readonly seeded: number;
  readonly ids: ReturnType<typeof createCalculationIds>;
  readonly datasets: readonly Dataset[];
  readonly cardsOf: (datasetIndex: number) => readonly SeededCard[];
};

/**
 * Where a calculation is saved: on a dataset, on a card, or nowhere (`free`, `variable`). The dataset of an `orphaned`
 * calculation no longer exists.
 */
type Kind = 'on-dataset' | 'on-card' | 'free' | 'variable' | 'orphaned';

/**
 * The calculation with this sequence number, drawn only from the seed. For a calculation that is added later, the table
 * replaces the drawn creation time.
 */
function seededCalculation(context: SeedContext, sequence: number): Calculation {
  const random = randomFor(context.seed, 'calculation', sequence);
  const kind = context.datasets.length === 0 ? 'free' : drawKind(random);
  const onDataset = kind === 'on-dataset' || kind === 'on-card';
  const datasetIndex = onDataset ? random.below(context.datasets.length) : undefined;
  const created = createdMs(context, sequence);
  const broken = kind === 'orphaned' || (kind !== 'variable' && random.chance(0.02));
  return {
    sequence,
    id: context.ids.idOf(sequence),
    name: calculationName(
      random,
      datasetIndex === undefined ? undefined : context.datasets[datasetIndex],
      kind === 'variable',
    ),
    owner: userIdAt(context.seed, ownerFor(context.seed, 'calculation owner', sequence)),
    lastModified: created + Math.floor(random.next() ** 3 * Math.max(0, SEEDED_UNTIL_MS - created)),
    created,
    global: random.chance(0.03),
    locked: random.chance(0.04),
    legacyId: `calculation_${random.uuid()}`,
    status: broken ? 'INVALID' : 'VALID',
    links: linksOf(context, random, kind, datasetIndex),
    archived: random.chance(0.06),
    hidden: random.chance(0.03),
    variable: kind === 'variable',
    cacheWindow: random.chance(0.7) ? 'non_dynamic' : 'day',
    datasetIndex,
    references: referencesOf(context, sequence, kind),
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

function createdMs(context: SeedContext, sequence: number): number {
  return sequence < context.seeded
    ? seededCreationMs(context.seed, sequence, context.seeded)
    : SEEDED_UNTIL_MS;
}

const kindOf = (context: SeedContext, sequence: number): Kind =>
  context.datasets.length === 0 ? 'free' : drawKind(randomFor(context.seed, 'calculation', sequence));

/** What the formula of a calculation refers to, without drawing the rest of the calculation. */
const seededReferences = (context: SeedContext, sequence: number): readonly Reference[] =>
  hasReferences(context.seed, sequence) ? referencesOf(context, sequence, kindOf(context, sequence)) : [];

/**
 * Draws references. They lead only to older calculations, so they may nest but form no cycle. Some of these
 * older calculations have references too, some are variables.
 */
function referencesOf(context: SeedContext, sequence: number, kind: Kind): readonly Reference[] {
  if (kind !== 'on-dataset' || !hasReferences(context.seed, sequence)) return [];
  let target = Math.floor(drawFor(context.seed, 'refers to', sequence) * sequence);
  const draw = drawFor(context.seed, 'refers to a kind', sequence);
  const fits = (each: number) =>
    draw < 0.3 ? hasReferences(context.seed, each) : draw >= 0.4 || kindOf(context, each) === 'variable';
  while (target > 0 && !fits(target)) target -= 1;
  if (target === 0) return [];
  const isVariable = kindOf(context, target) === 'variable';
  return [{ kind: isVariable ? 'variable' : 'calculation', id: context.ids.idOf(target), valid: 'VALID' }];
}

function hasReferences(seed: number, sequence: number): boolean {
  return drawFor(seed, 'refers', sequence) < 0.05;
}

/** The links to datasets and cards. The table adds links to the calculations that refer to this one. */
function linksOf(
  context: SeedContext,
  random: Random,
  kind: Kind,
  datasetIndex: number | undefined,
): readonly Link[] {
  if (kind === 'orphaned')
    return [link('DATA_SOURCE', goneDatasetId(context.seed, random), true, 'ILLEGAL_REFERENCE')];
  if (datasetIndex === undefined) return [];
  const links = [
    link('DATA_SOURCE', context.datasets[datasetIndex]?.id ?? '', kind === 'on-dataset', 'VALID'),
  ];
  const cards = context.cardsOf(datasetIndex);
  const uses = cards.length === 0 ? 0 : kind === 'on-card' ? 1 : Math.floor(random.next() ** 2 * 4);
  for (let use = 0; use < Math.min(uses, cards.length); use += 1) {
    const card = cards[(random.below(cards.length) + use) % cards.length];
    if (card === undefined || links.some(({ resource }) => resource.id === cardLinkId(card))) continue;
    links.push(link('CARD', cardLinkId(card), false, random.chance(0.02) ? 'INCOMPATIBLE_LINK' : 'VALID'));
  }
  return links;
}

/**
 * The id in a card's link: `dr:<drill id>:<root card id>` for a card in a drill path; otherwise the ids of
 * the card and its main page.
 */
function cardLinkId({ row, rootId }: SeededCard): string {
  return rootId === undefined ? `${row.id}:${row.id % 9_973}` : `dr:${row.id}:${rootId}`;
}

/** Imports: with probability `chance`, a group of `size` consecutive records shares one creation time. */
const IMPORTS = [
  { size: 256, chance: 0.03 },
  { size: 16, chance: 0.12 },
] as const;

/** The creation time in epoch milliseconds: never before the previous record's, and not unique. */
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

const FIRST_ID = 1_003;
const ID_GAP = 37;
/**
 * The lowest id above 2^53. It is odd, like every id above it: up to 2^54, a JavaScript number rounds each of these ids
 * to another number.
 */
const FIRST_BIG_ID = 2n ** 53n + 1n;
const BIG_ID_GAP = 1_010;
/** One seeded record in this many has an id above 2^53; at least three have one. */
const RECORDS_PER_BIG_ID = 4_000;

/**
 * Creates the ids, which ascend in the order of creation, with gaps. The ids of the last seeded records and of all
 * added records are above 2^53.
 */
function createCalculationIds(seed: number, seeded: number) {
  const big = seeded < 3 ? 0 : Math.max(3, Math.floor(seeded / RECORDS_PER_BIG_ID));
  const firstBig = seeded - big;
  const offset = (sequence: number, gap: number) =>
    Math.floor(drawFor(seed, 'calculation id', sequence) * gap);
  const idOf = (sequence: number) => {
    if (sequence < firstBig) return String(FIRST_ID + sequence * ID_GAP + offset(sequence, ID_GAP));
    return String(
      FIRST_BIG_ID + BigInt((sequence - firstBig) * BIG_ID_GAP + 2 * offset(sequence, BIG_ID_GAP / 2)),
    );
  };
  const guess = (id: bigint) =>
    id >= FIRST_BIG_ID
      ? firstBig + Number((id - FIRST_BIG_ID) / BigInt(BIG_ID_GAP))
      : Math.floor((Number(id) - FIRST_ID) / ID_GAP);
  return {
    idOf,
    sequenceOf(id: string): number | undefined {
      const sequence = guess(BigInt(id));
      return sequence >= 0 && Number.isSafeInteger(sequence) && idOf(sequence) === id ? sequence : undefined;
    },
  };
}

/** A realistic name: of a column or a well-known measure. Many calculations have the same name. */
function calculationName(random: Random, dataset: Dataset | undefined, variable: boolean): string {
  if (variable) return random.pick(VARIABLES);
  if (dataset === undefined || random.chance(0.35)) return `${random.pick(MEASURES)}${random.pick(ENDINGS)}`;
  return random.pick(PATTERNS).replace('{}', random.pick(dataset.columns).name) + random.pick(ENDINGS);
}

const MEASURES = itemsOf`Margin %|Win Rate|Churn|YoY Growth|ARPU|Days Open|On-time %|Cohort|Fiscal Quarter|Is Late|Größe|
  Émissions|Año fiscal|前年比|Средний чек|🔥 Hot leads|Gross Profit|Weighted Pipeline|SLA breached?|
  Rolling 12 "months"|Tier\Band|margin %`;

const PATTERNS = itemsOf`{}|Total {}|Avg {}|{} YTD|{} by Rep|Σ {}|{} YoY %|Max {}|{} bucket|Distinct {}|{} (fixed)|
  Rank of {}|Ø {}|{} – label|合計 {}`;

const ENDINGS = ['', '', '', '', '', '', '', ' (copy)', ' v2', ' OLD', ' - DO NOT USE', ' test'] as const;

const VARIABLES = itemsOf`Target|Growth assumption|Währung|Selected Region|Discount rate|As-of date`;

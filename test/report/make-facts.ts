import type { CalculationFlag, ReportFacts, RunFacts } from '../../lib/report/facts.ts';
import { calculationFlags, cardFlags } from '../../lib/report/facts.ts';

const DAY_MS = 86_400_000;

/** When the facts are from. */
const WRITTEN_AT = Date.UTC(2026, 10, 22, 21, 4);

/** Names that would be markup, a script, another direction or nothing to see, if they were not text. */
export const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(2)</script>',
  '<!--<script>',
  '"><svg onload=alert(3)>',
  "javascript:alert(4)//' onclick='alert(5)",
  '\u202Egnp.exe\u202C reversed',
  'مبيعات الربع \u2067(2026)\u2069',
  'a\u0000b\u0007c\u001B[31m',
  '👩‍👩‍👧‍👦 families & friends 🇳🇿',
  'long '.repeat(60).trim(),
  '{{constructor.constructor("alert(6)")()}} &lt;b&gt;',
  '\uD800 alone',
] as const;

const OWNERS = 'Ana Duarte,Bo Lindqvist,Chidi Eze,Dana Weiss,Emre Kaya,Wang Fang,Finance team'.split(',');
const FILESETS = ['landing', 'curated', 'exports'];
/** The last is a group, which no card names. */
const OWNER_IDS = OWNERS.map((_, index) => String(41 + index));
const TOPICS = ['Margin', 'Revenue', 'Churn', 'Headcount', 'Pipeline', 'Returns', 'Inventory', 'Refunds'];
const SHAPES = 'rolling mean,year to date,share of total,rank,moving total,ratio,plan,index'.split(',');

export type Sizes = { readonly calculations: number; readonly cards: number; readonly datasets: number };

/** Facts as of a platform of these sizes, the same for the same sizes. The first names are `HOSTILE`. */
export function makeFacts({ calculations, cards, datasets }: Sizes): ReportFacts {
  const random = randomFrom(7);
  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const ids = (many: number, first: number) =>
    Array.from({ length: many }, (_, index) => String(first + 7 * index));
  const names = ids(calculations, 0).map(
    (_, index) => HOSTILE[index] ?? `${pick(TOPICS)} ${pick(SHAPES)} ${below(calculations / 3)}`,
  );
  const edges = makeEdges({ calculations, cards, datasets }, below);
  const flags = names.map((_, index) => flagsOf(index, below, edges.broken.has(index)));
  const countFlag = (flag: CalculationFlag) =>
    flags.filter((each) => (each & calculationFlags[flag]) !== 0).length;
  const modified = names.map(() => WRITTEN_AT - Math.floor(random() ** 2 * 900) * DAY_MS);
  const statuses = ['ACTIVE', 'DRAFT', 'ARCHIVED'];
  const owner = names.map(() => below(OWNERS.length));
  const status = names.map(() => statuses[random() < 0.8 ? 0 : random() < 0.7 ? 1 : 2] ?? '');
  const datasetIds = ids(datasets, 90_001);
  const cardIds = ids(cards, 500_003);
  const types = ['KPI', 'CHART', 'TABLE', 'PIVOT'];
  const cardType = cardIds.map(() => types[below(types.length)] ?? '');
  const cardOwners = cardIds.map((_, card) =>
    card % 9 === 0 ? [below(OWNERS.length), card % 7] : [below(OWNERS.length)],
  );
  const cardBits = cardIds.map(
    (_, card) =>
      (card % 7 === 0 && card < 84 ? cardFlags.without_access : 0) |
      (card % 31 === 0 ? cardFlags.affected : 0),
  );
  const cardDataset = cardIds.map((_, card) => datasetIds[edges.datasetOfCard[card] ?? 0] ?? '');
  return {
    version: 1,
    writtenAt: WRITTEN_AT,
    platform: 'analytics.example.com',
    store: 's3://example-platform-sync',
    faults: [],
    model: undefined,
    narrowed: [],
    snapshots: [
      snapshot('calculations', calculations, random),
      snapshot('cards', cards, random),
      snapshot('files', 100_000, random),
      snapshot('data-files', 220, random),
    ],
    calculations: {
      total: calculations,
      status: countsOf(status),
      flags: Object.fromEntries(
        Object.keys(calculationFlags).map((flag) => [flag, countFlag(flag as CalculationFlag)]),
      ) as Record<CalculationFlag, number>,
      links: {
        values: [
          ['VALID', edges.graph.user.length - edges.graph.invalid.length],
          ...countsOf(edges.graph.invalid.map(([, valid]) => valid)).values,
        ],
        others: 0,
      },
      brokenLinks: edges.graph.invalid.length,
      lastModified: [
        ...countsOf(modified.map((each) => new Date(each).toISOString().slice(0, 7))).values,
      ].sort(),
      list: {
        total: calculations,
        isWhole: true,
        columns: {
          id: ids(calculations, 1_001),
          name: names,
          owner: owner.map((each) => OWNER_IDS[each] ?? ''),
          status,
          modified,
          flags,
        },
      },
    },
    cards: {
      total: cards,
      type: countsOf(cardType),
      chartType: countsOf(cardIds.map(() => pick(['line', 'bar', 'area', 'map', 'none']))),
      flags: {
        missing_target: 0,
        affected: cardBits.filter((bits) => (bits & cardFlags.affected) !== 0).length,
        without_access: cardBits.filter((bits) => (bits & cardFlags.without_access) !== 0).length,
      },
      list: {
        total: cards,
        isWhole: true,
        columns: {
          id: cardIds,
          title: cardIds.map(
            (_, index) =>
              HOSTILE[index] ?? `${pick(TOPICS)} by ${pick(['region', 'quarter', 'team'])} ${index}`,
          ),
          type: cardType,
          owner: cardOwners.map((owners) => owners.map((each) => OWNER_IDS[each] ?? '')),
          dataset: cardDataset,
          flags: cardBits,
        },
      },
    },
    datasets: {
      total: datasets,
      list: {
        total: datasets,
        isWhole: true,
        columns: {
          id: datasetIds,
          cards: datasetIds.map((_, index) => edges.datasetOfCard.filter((each) => each === index).length),
          calculations: datasetIds.map(
            (_, index) => edges.datasetOfCalculation.filter((each) => each === index).length,
          ),
          broken_links: datasetIds.map(() => (random() < 0.1 ? below(40) : 0)),
        },
      },
    },
    owners: ownersOf(
      owner.map((each, row) => ({ owner: each, flags: flags[row] ?? 0, modified: modified[row] ?? 0 })),
      cardOwners.flatMap((owners, row) =>
        [...new Set(owners)].map((each) => ({ owner: each, flags: cardBits[row] ?? 0 })),
      ),
    ),
    files: {
      total: 100_000,
      bytes: 734_000_000_000,
      fileType: inAll({ csv: 61_000, parquet: 22_000, xlsx: 9_000, json: 8_000 }),
      indexStatus: inAll({ INDEXED: 97_410, PENDING: 2_402, FAILED: 188 }),
      filesets: FILESETS.map((id, index) => ({
        id,
        files: [70_000, 22_000, 8_000][index] ?? 0,
        bytes: 2e11,
      })),
      list: {
        total: 100_000,
        isWhole: false,
        columns: {
          fileset: Array.from({ length: 1_000 }, (_, index) => FILESETS[index % 3] ?? ''),
          path: Array.from(
            { length: 1_000 },
            (_, index) => `${pick(TOPICS).toLowerCase()}/2026/${index}/part-${below(99_999)}.parquet`,
          ),
          type: Array.from({ length: 1_000 }, (_, index) => ['csv', 'parquet'][index % 2] ?? ''),
          size: Array.from({ length: 1_000 }, (_, index) => 9_000_000_000 - index * 8_000_000),
          created: Array.from({ length: 1_000 }, () => WRITTEN_AT - below(700) * DAY_MS),
        },
      },
    },
    dataFiles: {
      total: 220,
      scanState: inAll({ CLEAN: 204, PENDING: 12, INFECTED: 4 }),
      age: [
        ['under 30 days', 40],
        ['30 to 90 days', 61],
        ['90 days to a year', 90],
        ['over a year', 29],
      ],
      list: {
        total: 220,
        isWhole: true,
        columns: {
          id: ids(220, 700_001),
          name: ids(220, 1).map((id) => `upload-${id}.csv`),
          scan: ids(220, 1).map((_, index) => (index < 204 ? 'CLEAN' : index < 216 ? 'PENDING' : 'INFECTED')),
          size: ids(220, 1).map(() => below(90_000_000)),
          created: ids(220, 1).map(() => WRITTEN_AT - below(700) * DAY_MS),
        },
      },
    },
    graph: edges.graph,
    formulas: [
      {
        calculationId: '1120',
        name: 'Margin rolling mean',
        at: WRITTEN_AT - 2 * DAY_MS,
        before: 'SUM([Revenue]) - SUM([Cost])',
        after: 'IF(SUM([Revenue]) = 0, NULL, (SUM([Revenue]) - SUM([Cost of goods])) / SUM([Revenue]))',
      },
    ],
    batches: [batch()],
    jobs: {
      sinceMs: WRITTEN_AT - 30 * DAY_MS,
      isCut: false,
      types: [
        { type: 'score-texts', done: 812, failed: 3, unknown: 0 },
        { type: 'update-formula', done: 154, failed: 2, unknown: 1 },
        { type: 'run-function', done: 61, failed: 0, unknown: 0 },
      ],
      attention: [
        {
          id: 'nightly-margin-17',
          type: 'update-formula',
          status: 'unknown',
          attempts: 3,
          finishedAt: WRITTEN_AT - DAY_MS / 3,
          reason: 'The connection broke after the request was sent, so the update may have been made.',
          advice: 'Compare the formula with the one wanted: platform-sync formula log 1120',
        },
        {
          id: 'reviews-2026-11-20',
          type: 'score-texts',
          status: 'failed',
          attempts: 5,
          finishedAt: WRITTEN_AT - 2 * DAY_MS,
          reason: 'The platform responded 422: the text has 41,002 characters, at most 32,000 are allowed.',
          advice: 'Shorten the text and submit it again under another id.',
        },
      ],
    },
  };
}

type Owned = { readonly owner: number; readonly flags: number };

/** What is counted of each owner. */
function ownersOf(
  calculations: readonly (Owned & { readonly modified: number })[],
  cards: readonly Owned[],
): ReportFacts['owners'] {
  const having = (bit: number, of: readonly Owned[] = [...calculations, ...cards]) =>
    OWNERS.map(
      (_, index) => of.filter(({ owner, flags }) => owner === index && (flags & bit) === bit).length,
    );
  const of = calculationFlags;
  return {
    total: OWNERS.length,
    list: {
      total: OWNERS.length,
      isWhole: true,
      columns: {
        id: OWNER_IDS,
        name: OWNERS.map((name, index) => (index < 6 ? name : '')),
        oldest_modified: OWNERS.map((_, index) =>
          Math.min(...calculations.filter(({ owner }) => owner === index).map(({ modified }) => modified)),
        ),
        calculations: having(0, calculations),
        cards: having(0, cards),
        files: OWNERS.map((_, index) => 100 * index),
        data_files: OWNERS.map((_, index) => 9 * index),
        broken_links: having(of.broken_links),
        invalid: having(of.invalid),
        missing_target: having(of.missing_target),
        affected: having(of.affected),
        unused: having(of.unused),
        locked: having(of.locked, calculations),
      },
    },
  };
}

/** One in so many has a flag. */
const RARITY = {
  ...{ invalid: 200, affected: 70, unused: 9, locked: 40, archived: 30 },
  ...{ hidden: 50, global: 60, same_name: 25, same_links: 45 },
};

function flagsOf(index: number, below: (most: number) => number, isBroken: boolean): number {
  const { broken_links, missing_target, oldest } = calculationFlags;
  const names = Object.keys(RARITY) as (keyof typeof RARITY)[];
  return names
    .filter((name) => below(RARITY[name]) === 0)
    .reduce(
      (bits, name) => bits | calculationFlags[name],
      (isBroken ? broken_links | missing_target : 0) | (index < 100 ? oldest : 0),
    );
}

/** Each calculation on a dataset and on some cards; one in three refers to an earlier one; one link in 300 is broken. */
function makeEdges({ calculations, cards, datasets }: Sizes, below: (most: number) => number) {
  const user: number[] = [];
  const used: number[] = [];
  const relation: number[] = [];
  const invalid: [number, string][] = [];
  const others: { kind: 'calculation'; id: string }[] = [];
  const broken = new Set<number>();
  const firstCard = datasets + calculations;
  const link = (from: number, to: number, how: number) => {
    user.push(from);
    used.push(to);
    relation.push(how);
  };
  const datasetOfCalculation = Array.from({ length: calculations }, () =>
    Math.min(below(datasets), below(datasets)),
  );
  const datasetOfCard = Array.from({ length: cards }, () => Math.min(below(datasets), below(datasets)));
  for (const [index, dataset] of datasetOfCalculation.entries()) {
    link(datasets + index, dataset, 0);
    if (index > 0 && below(3) === 0) link(datasets + index, datasets + below(index), 2);
    for (let more = below(3); more > 0; more -= 1) link(firstCard + below(cards), datasets + index, 3);
    if (below(300) > 0) continue;
    broken.add(index);
    invalid.push([user.length, below(2) === 0 ? 'DELETED' : 'NO_ACCESS']);
    others.push({ kind: 'calculation', id: String(8_000_000 + index) });
    link(datasets + index, firstCard + cards + others.length - 1, 2);
  }
  for (const [card, dataset] of datasetOfCard.entries()) {
    link(firstCard + card, dataset, 4);
    if (card > 10 && below(12) === 0) link(firstCard + card, firstCard + below(card), 5);
  }
  return { graph: { user, used, relation, invalid, others }, broken, datasetOfCalculation, datasetOfCard };
}

const MISSING = [
  { id: '500017', status: 403 },
  { id: '500024', status: 404 },
];

function snapshot(place: string, records: number, random: () => number): ReportFacts['snapshots'][number] {
  const history: RunFacts[] = Array.from({ length: 30 }, (_, index) => {
    const startedAt = WRITTEN_AT - (30 - index) * DAY_MS - 300_000;
    const busy = index === 19 ? 6 : 1;
    return {
      run: new Date(startedAt).toISOString().replaceAll(/[-:.]/g, ''),
      startedAt,
      finishedAt: startedAt + 180_000 + Math.floor(random() * 60_000),
      records: records - (30 - index) * 4,
      added: Math.floor(random() * 40 * busy),
      removed: Math.floor(random() * 18),
      changed: Math.floor(random() * 90 * busy),
      requests: Math.ceil(records / 100) + Math.floor(random() * 20),
      retries: Math.floor(random() * 6),
      throttled: index % 7 === 3 ? Math.floor(random() * 30) : 0,
      waitedMs: Math.floor(random() * 40_000),
    };
  });
  const last = history[29] as RunFacts;
  const { run, startedAt, finishedAt } = last;
  return {
    ...{ place, source: place, run, startedAt, finishedAt, records },
    totals: { start: records, end: records + (place === 'cards' ? 2 : 0) },
    consistency: place === 'cards' ? 'best-effort' : 'proved',
    forced: false,
    missing: place === 'cards' ? MISSING : [],
    missingTotal: place === 'cards' ? MISSING.length : 0,
    refused: undefined,
    history,
    changes: {
      against: history[28]?.run ?? '',
      added: last.added,
      removed: last.removed,
      changed: last.changed,
      listed: [
        ...changes(
          'added',
          last.added,
          1_001,
          (index) => HOSTILE[index] ?? `${TOPICS[index % 8]} plan ${index}`,
        ),
        ...changes('changed', last.changed, 9_001, (index) => `${TOPICS[index % 8]} ratio ${index}`),
        ...changes('removed', last.removed, 40_001, (index) => `Old index ${index}`),
      ],
    },
  };
}

const FIELDS = [
  { name: 'owner', before: '"Ana Duarte"', after: '"Bo Lindqvist"' },
  { name: 'lastModified', before: '1782345600000', after: '1795345600000' },
  {
    name: 'description',
    before:
      '"Mean of the last twelve months, without returns, in the currency of the head office and at the rate of the day"',
    after:
      '"Mean of the last six months, without returns or refunds, in the currency of the region and at the rate of the day"',
  },
];

const changes = (
  change: 'added' | 'changed' | 'removed',
  length: number,
  first: number,
  labelOf: (index: number) => string,
) =>
  Array.from({ length }, (_, index) => ({
    change,
    key: String(first + 7 * index),
    label: labelOf(index),
    fields: change === 'changed' ? FIELDS.slice(0, index % 3 === 0 ? 3 : 2) : [],
  }));

function batch(): ReportFacts['batches'][number] {
  const sentiments = (positive: number, negative: number, neutral: number) => ({
    positive,
    negative,
    neutral,
    not_applicable: Math.floor(neutral / 4),
    other: 0,
  });
  return {
    batch: 'store-reviews-november',
    finishedAt: WRITTEN_AT - DAY_MS,
    texts: 12_400,
    scored: 12_391,
    failed: 9,
    cached: 3_120,
    tokens: 1_804_211,
    topics: [
      { topic: 'delivery', sentiments: sentiments(3_900, 5_200, 2_300) },
      { topic: 'price', sentiments: sentiments(4_900, 3_100, 3_200) },
      { topic: 'staff', sentiments: sentiments(8_200, 900, 2_400) },
    ],
    overTime: {
      column: 'reviewed_on',
      days: Array.from({ length: 28 }, (_, index) => ({
        day: new Date(WRITTEN_AT - (28 - index) * DAY_MS).toISOString().slice(0, 10),
        sentiments: sentiments(
          210 + ((index * 37) % 60),
          120 + ((index * 53) % 90),
          90 + ((index * 17) % 30),
        ),
      })),
    },
    isCut: false,
    mostNegative: Array.from({ length: 14 }, (_, index) => ({
      id: `review-${1_200 + index * 31}`,
      topics: index < 6 ? ['delivery', 'price', 'staff'] : ['delivery', 'price'],
    })),
    failures: Array.from({ length: 9 }, (_, index) => ({
      id: `review-${90 + index}`,
      reason: 'the text is longer than 32,000 characters',
    })),
  };
}

const inAll = (counts: Readonly<Record<string, number>>) => ({ values: Object.entries(counts), others: 0 });

/** Most frequent first. */
function countsOf(values: readonly string[]) {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return { values: [...counts].sort(([, a], [, b]) => b - a), others: 0 };
}

/** Numbers from 0 to 1 that look random, the same for the same seed: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

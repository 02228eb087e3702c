import { collectFacts } from '../../lib/report/collect/collect-facts.ts';
import type { ReportFacts, SnapshotFacts } from '../../lib/report/facts.ts';
import type { Source } from '../../lib/snapshot/sources/sources.ts';
import { publishLines, wednesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';

const DAY_MS = 86_400_000;

/** The time of the facts. */
const WRITTEN_AT = Date.UTC(2026, 10, 22, 21, 4);

/** Names that would be markup, a script, reversed text or invisible if they were not shown as text. */
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
const OWNER_IDS = OWNERS.map((_, index) => String(41 + index));
const TOPICS = ['Margin', 'Revenue', 'Churn', 'Headcount', 'Pipeline', 'Returns', 'Inventory', 'Refunds'];
const SHAPES = 'rolling mean,year to date,share of total,rank,moving total,ratio,plan,index'.split(',');

const LINKS = {
  calculation: 'https://analytics.example.com/calculations/{id}',
  card: 'https://analytics.example.com/cards/{id}',
  'data-file': 'https://analytics.example.com/data-files/{id}',
};

export type Sizes = { readonly calculations: number; readonly cards: number; readonly datasets: number };

/**
 * Facts about a platform of these sizes, always the same for the same sizes. The first names are `HOSTILE`. Facts about
 * records are collected from generated records; runs, batches and jobs are invented.
 */
export async function makeFacts(sizes: Sizes): Promise<ReportFacts> {
  const random = randomFrom(7);
  const store = createMemoryStore();
  const records = recordsOf(sizes, random);
  for (const [place, of] of Object.entries(records))
    await publishLines(store, {
      place: place as Source,
      run: wednesday,
      lines: of.map((record) => JSON.stringify(record)),
      manifest: { selection: place === 'cards' ? { datasets: 'calculations', drill: true } : {} },
    });
  const facts = await collectFacts({
    store,
    links: LINKS,
    now: () => WRITTEN_AT,
    signal: new AbortController().signal,
  });
  return {
    ...facts,
    platform: 'analytics.example.com',
    snapshots: Object.entries(records).map(([place, { length }]) => snapshot(place, length, random)),
    ...others(),
  };
}

/** Each calculation on a dataset and on some cards; one in three refers to an earlier one; one link in 300 is broken. */
function recordsOf({ calculations, cards, datasets }: Sizes, random: () => number) {
  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const many = <T>(length: number, make: (index: number) => T) =>
    Array.from({ length }, (_, index) => make(index));
  const idAt = (first: number) => (index: number) => first + 7 * index;
  const [calculationId, datasetId, cardId] = [idAt(1_001), idAt(90_001), idAt(500_003)];
  const pastMs = (days: number) => WRITTEN_AT - below(days) * DAY_MS;
  const dataset = () => String(datasetId(Math.min(below(datasets), below(datasets))));
  const link = (type: string, id: unknown, valid = 'VALID') => ({
    resource: { type, id: String(id) },
    valid,
  });
  return {
    calculations: many(calculations, (index) => ({
      id: calculationId(index),
      name: HOSTILE[index] ?? `${pick(TOPICS)} ${pick(SHAPES)} ${below(calculations / 3)}`,
      owner: pick(OWNER_IDS),
      status: below(200) === 0 ? 'INVALID' : 'VALID',
      lastModified: pastMs(900),
      ...{ locked: below(40) === 0, archived: below(30) === 0 },
      ...{ hidden: below(50) === 0, global: below(60) === 0 },
      links: [
        link('DATA_SOURCE', dataset()),
        ...(below(300) === 0
          ? [link('FUNCTION_TEMPLATE', 8_000_000 + index, pick(['DELETED', 'NO_ACCESS']))]
          : []),
      ],
      activeLinks: { CARD: many(below(3), () => String(cardId(below(cards)))) },
      functionTemplateDependencies: index > 0 && below(3) === 0 ? [String(calculationId(below(index)))] : [],
    })),
    cards: many(cards, (index) => ({
      id: cardId(index),
      title: HOSTILE[index] ?? `${pick(TOPICS)} by ${pick(['region', 'quarter', 'team'])} ${index}`,
      type: pick(['KPI', 'CHART', 'TABLE', 'PIVOT']),
      chartType: pick(['line', 'bar', 'area', 'map', 'none']),
      owners: [...new Set([below(6), index % 9 === 0 ? 6 : index % 6])].map((owner) => ({
        id: OWNER_IDS[owner],
        displayName: OWNERS[owner],
      })),
      access: index % 7 !== 0 || index > 84,
      datasourceId: dataset(),
    })),
    files: many(2_000, (index) => ({
      _filesetId: FILESETS[index % 3],
      id: `file-${index}`,
      path: `${pick(TOPICS).toLowerCase()}/2026/${index}/part-${below(99_999)}.parquet`,
      fileType: pick(['csv', 'parquet', 'xlsx', 'json']),
      indexStatus: pick(['INDEXED', 'INDEXED', 'PENDING', 'FAILED']),
      createdBy: pick(OWNER_IDS),
      size: 9_000_000_000 - index * 4_000_000,
      created: new Date(pastMs(700)).toISOString(),
    })),
    'data-files': many(220, (index) => ({
      dataFileId: 700_001 + 7 * index,
      name: `upload-${index}.csv`,
      responsibleUserId: Number(pick(OWNER_IDS)),
      datetimeCreated: pastMs(700),
      currentRevision: { scanState: index < 204 ? 'CLEAN' : 'INFECTED', sizeBytes: below(90_000_000) },
    })),
  };
}

/** The invented facts that do not come from records. */
const others = (): Pick<ReportFacts, 'knownFormulas' | 'formulas' | 'batches' | 'jobs'> => ({
  knownFormulas: {
    total: 3,
    list: [
      { id: '1001', expression: 'SUM(`Revenue`)\n/ COUNT(`Order <id>`)', columns: ['Revenue', 'Order <id>'] },
      { id: '1120', expression: '1', columns: [] },
    ],
  },
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
});

const MISSING = [
  { id: '500017', status: 403 },
  { id: '500024', status: 404 },
];

function snapshot(place: string, records: number, random: () => number): ReportFacts['snapshots'][number] {
  const history: SnapshotFacts['history'][number][] = Array.from({ length: 30 }, (_, index) => {
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
  const last = history[29] as SnapshotFacts['history'][number];
  const { run, startedAt, finishedAt } = last;
  return {
    ...{ place, source: place, run, startedAt, finishedAt, records },
    totals: { start: records, end: records + (place === 'cards' ? 2 : 0) },
    consistency: place === 'cards' ? 'best-effort' : 'proved',
    forced: false,
    missing: place === 'cards' ? MISSING : [],
    missingTotal: place === 'cards' ? MISSING.length : 0,
    refused:
      place === 'files'
        ? {
            run: '20261122T200000Z-c0ffee',
            reasons: ['shrunk: fewer than 50% of the last run’s records (SYNC_GATES)'],
          }
        : undefined,
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
    rows: 12_402,
    scored: 12_391,
    failed: 9,
    cancelled: 0,
    bad: 2,
    erased: 0,
    cached: 3_120,
    calls: 9_280,
    paidAgain: 0,
    tokens: { input: 1_503_120, output: 301_091, total: 1_804_211, reasoning: 0 },
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

/** Creates a generator of pseudo-random numbers from 0 to 1, the same for the same seed: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

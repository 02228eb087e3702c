import { createHash } from 'node:crypto';

/** Records as bytes, one after another, each followed by a comma. Their ids have ten digits, to be overwritten. */
export type RecordTemplates = {
  readonly bytes: Buffer;
  /** The first byte of each template, followed by the end of the last one. */
  readonly starts: readonly number[];
  /** The offset of the id in each template. */
  readonly idOffset: number;
  /** For each template, the offset of the last digit of its time of change. */
  readonly changeOffsets: readonly number[];
};

/**
 * Creates `count` calculations as the search returns them, about 1.1 KB each, the same in every run. They differ enough
 * to give a compressor work. Together they are larger than its window, so that repeats do not help it.
 */
export function createRecordTemplates(count: number): RecordTemplates {
  const records = Array.from({ length: count }, (_, index) => Buffer.from(`${printRecord(index)},`));
  const starts = [0];
  for (const record of records) starts.push((starts.at(-1) ?? 0) + record.length);
  const changeOffsets = records.map((record) => {
    const name = '"lastModified":';
    return record.indexOf(',', record.indexOf(name)) - 1;
  });
  return { bytes: Buffer.concat(records), starts, idOffset: '{"id":'.length, changeOffsets };
}

const NAMES = [
  'Umsatz je Währung',
  '売上 合計',
  'Distinct Customers YTD',
  'SLA breached?',
  'Σ Closed At – “final”',
  'Marge % (brutto)',
  'Cohort\tWeek',
  'Выручка за месяц',
  'ARPU test 🚀',
  'Net\\Gross',
] as const;

function printRecord(index: number): string {
  const random = drawsOf(index);
  const datasets = Array.from({ length: 1 + random(2) }, () => datasetId(random(2_000)));
  const cards = Array.from({ length: 4 + random(3) }, () => `${1_200_000_000 + random(11_000_000)}`);
  const links = [
    ...datasets.map((id) => linkTo('DATA_SOURCE', id, random)),
    ...cards.map((id) => linkTo('CARD', `${id}:${random(9_999)}`, random)),
  ];
  const created = 1_500_000_000_000 + random(200_000_000) * 1_000 + random(1_000);
  return JSON.stringify({
    id: 1_000_000_000,
    name: `${NAMES[random(NAMES.length)]} ${random(10_000)}`,
    owner: 100_000_000 + random(900_000),
    lastModified: created + random(2_000_000_000),
    created,
    global: random(10) === 0,
    locked: random(20) === 0,
    legacyId: `calculation_${uuidOf(`calculation ${index}`)}`,
    status: random(30) === 0 ? 'INVALID' : 'VALID',
    links,
    archived: random(15) === 0,
    activeLinks: { DATA_SOURCE: datasets, CARD: cards },
  });
}

const linkTo = (type: string, id: string, random: (below: number) => number) => ({
  resource: { type, id },
  visible: random(3) > 0,
  active: true,
  valid: random(30) === 0 ? 'INVALID' : 'VALID',
});

const datasetId = (index: number) => uuidOf(`dataset ${index}`);

function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    '-',
  );
}

/** Creates a generator of random whole numbers below a limit, the same for the same seed: Mulberry32. */
function drawsOf(seed: number): (below: number) => number {
  let state = Math.imul(seed + 1, 0x9e3779b1);
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

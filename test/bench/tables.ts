import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, bounded, type Row } from './bench.ts';
import { median } from './measured-process.ts';
import { startPageServer } from './page-server-process.ts';

/** `TABLES_RECORDS=50000 npm run bench -- tables` measures another size. */
const SIZES = (process.env['TABLES_RECORDS'] ?? '200000,1000000').split(',').map(Number);

/** The required bounds. */
const MOST_RATIO = 1.5;
const MOST_MB = 300;

/** Rounds of the small sizes: their medians are compared. */
const ROUNDS = 5;
const LARGE = 500_000;

/** What its tables (Parquet and uses) add to a run of calculations, from its first request on: with and without, in turns. */
export const tables: Bench = {
  name: 'tables',
  async run() {
    const rows: Row[] = [];
    for (const records of SIZES) rows.push(...(await measure(records)));
    return rows;
  },
};

type Took = {
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakMb: number;
  readonly records: number;
  readonly jsonMb: number;
  readonly parquetMb: number;
  readonly other: number;
};

type Kind = 'with' | 'without';

async function measure(records: number): Promise<readonly Row[]> {
  await using server = await startPageServer(records);
  const took: Record<Kind, Took[]> = { with: [], without: [] };
  const rounds = records >= LARGE ? 1 : ROUNDS;
  for (let round = 0; round < rounds; round += 1) {
    for (const kind of ['with', 'without'] as const) took[kind].push(await takeRun(server.url, kind));
  }
  return rowsOf(records, took);
}

function rowsOf(records: number, took: Readonly<Record<Kind, readonly Took[]>>): readonly Row[] {
  const at = `${records.toLocaleString('en')} calculations`;
  const of = (kind: Kind, value: keyof Took) => median(took[kind].map((each) => each[value]));
  const described = (kind: Kind): string =>
    `${of(kind, 'seconds').toFixed(1)} s, CPU ${of(kind, 'cpuSeconds').toFixed(1)} s, ${of(kind, 'peakMb').toFixed(0)} MB`;
  const ratio = of('with', 'seconds') / of('without', 'seconds');
  const peak = Math.max(...took.with.map(({ peakMb }) => peakMb));
  return [
    { measured: `${at}: with Parquet`, value: described('with') },
    { measured: `${at}: without`, value: described('without') },
    bounded(`${at}: with / without`, ratio.toFixed(2), `at most ${MOST_RATIO}`, ratio <= MOST_RATIO),
    {
      measured: `${at}: with / without, CPU`,
      value: (of('with', 'cpuSeconds') / of('without', 'cpuSeconds')).toFixed(2),
    },
    bounded(
      `${at}: most memory with Parquet`,
      `${peak.toFixed(0)} MB`,
      `below ${MOST_MB} MB`,
      peak < MOST_MB,
    ),
    {
      measured: `${at}: stored`,
      value: `${of('with', 'jsonMb').toFixed(1)} MB as NDJSON, ${of('with', 'parquetMb').toFixed(1)} MB as Parquet`,
    },
    bounded(`${at}: members in _other`, String(of('with', 'other')), 'none', of('with', 'other') === 0),
  ];
}

async function takeRun(url: string, kind: Kind): Promise<Took> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const child = spawn(process.execPath, ['test/bench/tables-process.ts', url, folder, kind], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`the run ${kind} Parquet ended with ${code}`);
    return JSON.parse(printed) as Took;
  } finally {
    await rm(folder, { recursive: true });
  }
}

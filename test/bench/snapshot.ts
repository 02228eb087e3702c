import { atMost, type Bench, bounded, type Row } from './bench.ts';
import { type MeasuredCommand, measureProcess, median, type Sample } from './measured-process.ts';
import { startPageServer } from './page-server-process.ts';

/** `SNAPSHOT_RECORDS=5000000 npm run bench -- snapshot` measures another size. */
const SIZES = (process.env['SNAPSHOT_RECORDS'] ?? '200000,1000000').split(',').map(Number);
/** Number of rounds for sizes below a million. Larger sizes have one round. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);

/** The required bounds; those over the floor are of CPU time. */
const MAX_MB = 220;
const MAX_GROWTH = 1.1;
/** The floor neither proves that pages are valid JSON nor finds records in them: that alone takes 0.54 of it. */
const MAX_OVER_FLOOR = 1.6;
/** Tables may take 1.35 times the CPU time of the scan. */
const MAX_WITH_TABLES = 3.8;
const MIN_OVER_STREAM = { zstd: 4, gzip: 3.5 } as const;

const compressions = ['zstd', 'gzip'] as const;
type Compression = (typeof compressions)[number];

const STREAM = 'typical stream';
const WITH_TABLES = 'ours with tables, gzip';
const ours = (compression: Compression) => `ours, ${compression}`;
const floor = (compression: Compression) => `floor, ${compression}`;

/**
 * `platform-sync snapshot calculations` as a whole process, at a rate that does not limit it, compared with a user's
 * typical script, and with only reading, compressing and writing the same bytes. All take turns, round by round.
 */
export const snapshot: Bench = {
  name: 'snapshot',
  about:
    'A whole process that takes and publishes a snapshot of calculations (1.1 KB each), beside a floor that reads the same pages raw, compresses and writes them, and beside a typical stream: fetch, parse, print and gzip each record. Ratios are of CPU time, but for the stream. [Speed](speed.md) says where the time goes, and why it is not nearer to the floor.',
  async run() {
    const runs: SizeRun[] = [];
    for (const records of SIZES)
      runs.push({ records, samples: await takeTurns(records, records < 1_000_000 ? ROUNDS : 1) });
    return [
      ...runs.flatMap(rowsOfSize),
      ...(runs.length > 1 ? compressions.map((compression) => growthRow(runs, compression)) : []),
    ];
  },
};

type Samples = ReadonlyMap<string, readonly Sample[]>;
type SizeRun = { readonly records: number; readonly samples: Samples };

/** Measures the contenders `names` in turns. Default: all of them. */
export async function takeTurns(
  records: number,
  rounds: number,
  names?: readonly string[],
): Promise<Samples> {
  await using server = await startPageServer(records);
  const samples = new Map<string, Sample[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, command] of Object.entries(contenders(server.url, records))) {
      if (names !== undefined && !names.includes(name)) continue;
      const sample = await measureProcess(command);
      if (sample.records !== records)
        throw new Error(`${name}: expected ${records} records, got ${sample.records}`);
      samples.set(name, [...(samples.get(name) ?? []), sample]);
    }
  }
  return samples;
}

/** Ratios on small work, for CI: the CPU time of a snapshot ÷ that of the floor, without and with tables. */
export async function scanRatios(): Promise<readonly [without: number, withTables: number]> {
  const samples = await takeTurns(100_000, 3, [ours('gzip'), WITH_TABLES, floor('gzip')]);
  return [overFloor(samples, ours('gzip'), 'gzip'), overFloor(samples, WITH_TABLES, 'gzip')];
}

/** The commands of the contenders, by name. */
function contenders(url: string, records: number): Readonly<Record<string, MeasuredCommand>> {
  const platform = { PLATFORM_BASE_URL: url, PLATFORM_TOKEN: 'bench' };
  const snapshotIn = (compression: Compression, ...options: readonly string[]): MeasuredCommand => ({
    command: () => ['lib/cli/bin.js', 'snapshot', 'calculations', '--json', ...options],
    environment: (folder) => ({
      ...platform,
      PLATFORM_RATE: '10000',
      SYNC_COMPRESSION: compression,
      SYNC_STORE: folder,
    }),
  });
  const floorIn = (compression: Compression): MeasuredCommand => ({
    command: (folder) => ['test/bench/contenders/floor.ts', compression, String(records), folder],
    environment: () => platform,
  });
  const both = compressions.flatMap((compression): [string, MeasuredCommand][] => [
    [ours(compression), snapshotIn(compression, '--no-tables')],
    [floor(compression), floorIn(compression)],
  ]);
  return {
    ...Object.fromEntries(both),
    [WITH_TABLES]: snapshotIn('gzip'),
    [STREAM]: {
      command: (folder) => ['test/bench/contenders/typical-stream.ts', `${folder}/snapshot.ndjson.gz`],
      environment: () => platform,
    },
  };
}

function rowsOfSize({ records, samples }: SizeRun): readonly Row[] {
  const at = records.toLocaleString('en');
  const tookRows = [...samples].map(([name, taken]) => ({
    measured: `${at}: ${name}`,
    value: describe(taken),
  }));
  const ratioRows = compressions.flatMap((compression) => {
    const faster = secondsOf(samples.get(STREAM)) / secondsOf(samples.get(ours(compression)));
    const least = MIN_OVER_STREAM[compression];
    const over = overFloor(samples, ours(compression), compression);
    return [
      bounded(
        `${at}: ${STREAM} ÷ ours, ${compression}`,
        faster.toFixed(2),
        `at least ${least}`,
        faster >= least,
      ),
      atMost(`${at}: ours ÷ floor, ${compression}`, over, MAX_OVER_FLOOR),
      peakRow(at, ours(compression), samples),
    ];
  });
  const tables = overFloor(samples, WITH_TABLES, 'gzip');
  return [
    ...tookRows,
    ...ratioRows,
    atMost(`${at}: ${WITH_TABLES} ÷ floor`, tables, MAX_WITH_TABLES),
    peakRow(at, WITH_TABLES, samples),
  ];
}

function peakRow(at: string, name: string, samples: Samples): Row {
  const peak = peakOf(samples.get(name));
  const measured = `${at}: ${name}, most memory`;
  return bounded(measured, `${peak.toFixed(0)} MB`, `below ${MAX_MB} MB`, peak < MAX_MB);
}

/** The growth of memory with the number of records, which must be small. */
function growthRow(runs: readonly SizeRun[], compression: Compression): Row {
  const peaks = runs.map(({ samples }) => peakOf(samples.get(ours(compression))));
  const growth = (peaks.at(-1) ?? Number.NaN) / (peaks[0] ?? Number.NaN);
  return atMost(`ours, ${compression}, memory at the last size ÷ at the first`, growth, MAX_GROWTH);
}

/** The ratio of the median CPU time of whole processes to that of the floor. */
const overFloor = (samples: Samples, name: string, compression: Compression): number =>
  cpuOf(samples.get(name)) / cpuOf(samples.get(floor(compression)));

const secondsOf = (samples: readonly Sample[] = []) => median(samples.map(({ seconds }) => seconds));

const cpuOf = (samples: readonly Sample[] = []) => median(samples.map(({ cpuSeconds }) => cpuSeconds));

const peakOf = (samples: readonly Sample[] = []) => median(samples.map(({ peakMb }) => peakMb));

const describe = (samples: readonly Sample[]) =>
  `${secondsOf(samples).toFixed(2)} s, CPU ${cpuOf(samples).toFixed(2)} s, ${peakOf(samples).toFixed(0)} MB`;

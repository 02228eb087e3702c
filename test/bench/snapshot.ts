import { type Bench, bounded, type Row } from './bench.ts';
import { type MeasuredCommand, measureProcess, median, type Sample } from './measured-process.ts';
import { startPageServer } from './page-server-process.ts';

const SIZES = [
  { records: 200_000, rounds: 3 },
  { records: 1_000_000, rounds: 1 },
] as const;

/** The required bounds. */
const MOST_MB = 250;
const MOST_GROWTH = 1.1;
const MOST_OVER_FLOOR = 2;
const LEAST_OVER_STREAM = { zstd: 4, gzip: 3.5 } as const;

const compressions = ['zstd', 'gzip'] as const;
type Compression = (typeof compressions)[number];

const STREAM = 'typical stream';
const ours = (compression: Compression) => `ours, ${compression}`;
const floor = (compression: Compression) => `floor, ${compression}`;

/**
 * `platform-sync snapshot calculations` as a whole process, at a rate that does not hold it back, against a way that a
 * user might write it, and against reading and compressing the same bytes. All take turns, round by round.
 */
export const snapshot: Bench = {
  name: 'snapshot',
  async run() {
    const runs: SizeRun[] = [];
    for (const { records, rounds } of SIZES) runs.push(await runSize(records, rounds));
    return [...runs.flatMap(rowsOfSize), ...compressions.map((compression) => growthRow(runs, compression))];
  },
};

type SizeRun = { readonly records: number; readonly samples: ReadonlyMap<string, readonly Sample[]> };

async function runSize(records: number, rounds: number): Promise<SizeRun> {
  await using server = await startPageServer(records);
  const samples = new Map<string, Sample[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, command] of Object.entries(contenders(server.url, records))) {
      const sample = await measureProcess(command);
      if (sample.records !== records)
        throw new Error(`${name}: expected ${records} records, got ${sample.records}`);
      samples.set(name, [...(samples.get(name) ?? []), sample]);
    }
  }
  return { records, samples };
}

/** What takes turns, by name. */
function contenders(url: string, records: number): Readonly<Record<string, MeasuredCommand>> {
  const platform = { PLATFORM_BASE_URL: url, PLATFORM_TOKEN: 'bench' };
  const both = compressions.flatMap((compression): [string, MeasuredCommand][] => [
    [
      ours(compression),
      {
        command: () => ['lib/cli/bin.js', 'snapshot', 'calculations', '--json'],
        environment: (folder) => ({
          ...platform,
          PLATFORM_RATE: '10000',
          SYNC_COMPRESSION: compression,
          SYNC_STORE: folder,
        }),
      },
    ],
    [
      floor(compression),
      {
        command: () => ['test/bench/contenders/floor.ts', compression, String(records)],
        environment: () => platform,
      },
    ],
  ]);
  return {
    ...Object.fromEntries(both),
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
  const seconds = (name: string) => secondsOf(samples.get(name) ?? []);
  const ratioRows = compressions.flatMap((compression) => [
    atLeast(
      `${at}: ${STREAM} / ours, ${compression}`,
      seconds(STREAM) / seconds(ours(compression)),
      LEAST_OVER_STREAM[compression],
    ),
    atMost(
      `${at}: ours / floor, ${compression}`,
      seconds(ours(compression)) / seconds(floor(compression)),
      MOST_OVER_FLOOR,
    ),
    peakRow(at, compression, samples),
  ]);
  return [...tookRows, ...ratioRows];
}

function peakRow(at: string, compression: Compression, samples: SizeRun['samples']): Row {
  const peak = peakOf(samples.get(ours(compression)) ?? []);
  const measured = `${at}: ours, ${compression}, most memory`;
  return bounded(measured, `${peak.toFixed(0)} MB`, `below ${MOST_MB} MB`, peak < MOST_MB);
}

/** Memory must not grow with the records. */
function growthRow(runs: readonly SizeRun[], compression: Compression): Row {
  const peaks = runs.map(({ samples }) => peakOf(samples.get(ours(compression)) ?? []));
  const growth = (peaks.at(-1) ?? Number.NaN) / (peaks[0] ?? Number.NaN);
  return atMost(`ours, ${compression}, memory at the last size / at the first`, growth, MOST_GROWTH);
}

const times = (ratio: number) => `${ratio.toFixed(2)} ×`;

const atLeast = (measured: string, ratio: number, least: number) =>
  bounded(measured, times(ratio), `at least ${least}`, ratio >= least);

const atMost = (measured: string, ratio: number, most: number) =>
  bounded(measured, times(ratio), `at most ${most}`, ratio <= most);

const secondsOf = (samples: readonly Sample[]) => median(samples.map(({ seconds }) => seconds));

const peakOf = (samples: readonly Sample[]) => median(samples.map(({ peakMb }) => peakMb));

const describe = (samples: readonly Sample[]) =>
  `${secondsOf(samples).toFixed(2)} s, ${peakOf(samples).toFixed(0)} MB`;

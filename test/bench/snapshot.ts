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
const LEAST_OVER_GATHER_ALL = 10;
const LEAST_OVER_STREAM = { zstd: 4, gzip: 3.5 } as const;

const compressions = ['zstd', 'gzip'] as const;
type Compression = (typeof compressions)[number];

const GATHER_ALL = '(a) gather all';
const STREAM = '(b) typical stream';
const STREAM_BY_PAGE = '(b) with one chunk per page';
const ours = (compression: Compression) => `ours, ${compression}`;
const floor = (compression: Compression) => `floor, ${compression}`;

/**
 * `platform-sync snapshot calculations` as a whole process, at a rate that does not hold it back, against two ways that
 * a user might write it, and against reading and compressing the same bytes. All take turns, round by round.
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
      if (sample.kind === 'done' && sample.records !== records)
        throw new Error(`${name}: expected ${records} records, got ${sample.records}`);
      if (sample.kind === 'died' && name !== GATHER_ALL) throw new Error(`${name}: ${sample.how}`);
      samples.set(name, [...(samples.get(name) ?? []), sample]);
    }
  }
  return { records, samples };
}

/** What takes turns, by name. */
function contenders(url: string, records: number): Readonly<Record<string, MeasuredCommand>> {
  const platform = { PLATFORM_BASE_URL: url, PLATFORM_TOKEN: 'bench' };
  const theirs = (file: string, ...rest: readonly string[]): MeasuredCommand => ({
    command: (folder) => [`test/bench/contenders/${file}`, `${folder}/snapshot.ndjson.gz`, ...rest],
    environment: () => platform,
  });
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
    [STREAM]: theirs('typical-stream.ts', 'record'),
    [STREAM_BY_PAGE]: theirs('typical-stream.ts', 'page'),
    [GATHER_ALL]: theirs('gather-all.ts'),
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
    ...(compression === 'zstd' ? [gatherAllRow(at, samples)] : []),
    atLeast(
      `${at}: (b) / ours, ${compression}`,
      seconds(STREAM) / seconds(ours(compression)),
      LEAST_OVER_STREAM[compression],
    ),
    {
      measured: `${at}: (b) with one chunk per page / ours, ${compression}`,
      value: times(seconds(STREAM_BY_PAGE) / seconds(ours(compression))),
    },
    atMost(
      `${at}: ours / floor, ${compression}`,
      seconds(ours(compression)) / seconds(floor(compression)),
      MOST_OVER_FLOOR,
    ),
    peakRow(at, compression, samples),
  ]);
  return [...tookRows, ...ratioRows];
}

/** If gathering all dies, it has lost, whatever its time; the time until then is shown. */
function gatherAllRow(at: string, samples: SizeRun['samples']): Row {
  const taken = samples.get(GATHER_ALL) ?? [];
  const ratio = secondsOf(taken) / secondsOf(samples.get(ours('zstd')) ?? []);
  const measured = `${at}: (a) / ours, zstd`;
  const bound = `at least ${LEAST_OVER_GATHER_ALL}, or (a) dies`;
  const died = taken.some(({ kind }) => kind === 'died');
  const value = died ? `(a) dies, after ${times(ratio)}` : times(ratio);
  return bounded(measured, value, bound, died || ratio >= LEAST_OVER_GATHER_ALL);
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

const peakOf = (samples: readonly Sample[]) =>
  median(samples.flatMap((sample) => (sample.kind === 'done' ? [sample.peakMb] : [])));

function describe(samples: readonly Sample[]): string {
  const died = samples.find((sample) => sample.kind === 'died');
  const seconds = `${secondsOf(samples).toFixed(2)} s`;
  return died === undefined ? `${seconds}, ${peakOf(samples).toFixed(0)} MB` : `${seconds}, ${died.how}`;
}

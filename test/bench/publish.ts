import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printedBy } from '../run-program.ts';
import { atMost, type Bench, bounded, type Row } from './bench.ts';
import { startPageServer } from './page-server-process.ts';

/** `PUBLISH_RECORDS=5000000 npm run bench -- publish` measures another size. */
const SIZES = (process.env['PUBLISH_RECORDS'] ?? '200000,1000000').split(',').map(Number);
const COMPRESSION = process.env['SYNC_COMPRESSION'] ?? 'gzip';

const MAX_MB = 220;

/**
 * What changes from one run to the next (every nth record; 0: none), and the maximum CPU time in relation to the
 * scan's. Building tables takes 1.35 times the scan by itself; tables of unchanged parts are copied.
 */
const VARIANTS = {
  'first run': { changedEvery: 0, most: 0.2, maxWithTables: 1.6 },
  unchanged: { changedEvery: 0, most: 0.1, maxWithTables: 0.1 },
  '1 % changed': { changedEvery: 100, most: 0.4, maxWithTables: 1.8 },
  'all changed': { changedEvery: 1, most: 0.8, maxWithTables: 2.2 },
} as const;
export type Variant = keyof typeof VARIANTS;

/** The cost of publishing a run after a previous one, by size, source and changes, compared with its scan. Runs take turns. */
export const publish: Bench = {
  name: 'publish',
  about:
    'What publishing takes beside its scan, in a process of its own, in a folder, compressed with gzip: each run against the one before it. Ratios are of CPU time. Download links of files are signed anew in each run, so no part of theirs repeats byte by byte.',
  async *run() {
    for (const records of SIZES)
      for (const source of ['calculations', 'files'] as const)
        for await (const taken of publishInTurns(source, records)) yield* rowsOf(source, records, taken);
  },
};

type Took = {
  readonly run: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly readMb: number;
  readonly peakMb: number;
};

type Taken = {
  readonly variant: Variant;
  readonly scan: Took;
  readonly published: Took;
  readonly tables: Took;
};

/** Publishes a first run, and then one run of each variant, each after the previous one. */
export async function* publishInTurns(source: string, records: number): AsyncGenerator<Taken> {
  await using server = await startPageServer(records);
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
  let version = 0;
  for (const variant of Object.keys(VARIANTS) as Variant[]) {
    version += 1;
    const body = JSON.stringify({ version, changedEvery: VARIANTS[variant].changedEvery });
    if (version > 1) await fetch(`${server.url}/version`, { method: 'POST', body });
    const third = (name: string, ...more: readonly string[]) =>
      runProcess(name, server.url, folder.path, source, ...more);
    const scan = await third('scan', COMPRESSION);
    yield { variant, scan, published: await third('publish', scan.run), tables: await third('tables') };
  }
}

export const shareOf = ({ scan, published }: Taken): number => published.cpuSeconds / scan.cpuSeconds;

function rowsOf(source: string, records: number, taken: Taken): readonly Row[] {
  const { variant, scan, published, tables } = taken;
  const at = `${records.toLocaleString('en')} ${source}, ${variant}`;
  return [
    {
      measured: `${at}: scan; publish; tables`,
      value: `${describe(scan)}; ${describe(published)}, ${published.readMb.toFixed(0)} MB read; ${describe(tables)}`,
    },
    atMost(`${at}: publish ÷ scan`, shareOf(taken), VARIANTS[variant].most),
    atMost(
      `${at}: publish and tables ÷ scan`,
      (published.cpuSeconds + tables.cpuSeconds) / scan.cpuSeconds,
      VARIANTS[variant].maxWithTables,
    ),
    bounded(
      `${at}: most memory`,
      `${published.peakMb.toFixed(0)} MB`,
      `below ${MAX_MB} MB`,
      published.peakMb < MAX_MB,
    ),
  ];
}

const describe = ({ seconds, cpuSeconds, peakMb }: Took): string =>
  `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, ${peakMb.toFixed(0)} MB`;

const runProcess = async (...args: readonly string[]): Promise<Took> =>
  JSON.parse(await printedBy([process.execPath, 'test/bench/publish-process.ts', ...args]));

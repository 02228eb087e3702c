import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Bench, bounded, type Row } from './bench.ts';
import { startPageServer } from './page-server-process.ts';

/** `PUBLISH_RECORDS=5000000 npm run bench -- publish` measures another size. */
const SIZES = (process.env['PUBLISH_RECORDS'] ?? '200000,1000000').split(',').map(Number);
const COMPRESSION = process.env['SYNC_COMPRESSION'] ?? 'gzip';

const MOST_MB = 300;
const MOST_SHARE = 0.5;

/** What changes from the first run to the second: every so many records; 0: none. */
const VARIANTS = { unchanged: 0, '1 % changed': 100, 'all changed': 1 } as const;

/** Publishing a run against the one before, by size, source and what changed: next to its scan, in turns. */
export const publish: Bench = {
  name: 'publish',
  async run() {
    const rows: Row[] = [];
    for (const records of SIZES) {
      for (const source of ['calculations', 'files']) rows.push(...(await measure(source, records)));
    }
    return rows;
  },
};

type Took = {
  readonly run: string;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly readMb: number;
  readonly peakMb: number;
};

async function measure(source: string, records: number): Promise<readonly Row[]> {
  await using server = await startPageServer(records);
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const rows = [...(await takeRun({ source, records, folder, url: server.url, variant: 'first run' }))];
    let version = 1;
    for (const [variant, changedEvery] of Object.entries(VARIANTS)) {
      version += 1;
      const body = JSON.stringify({ version, changedEvery });
      await fetch(`${server.url}/version`, { method: 'POST', body });
      rows.push(...(await takeRun({ source, records, folder, url: server.url, variant })));
    }
    return rows;
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Taken = {
  readonly source: string;
  readonly records: number;
  readonly folder: string;
  readonly url: string;
  readonly variant: string;
};

async function takeRun({ source, records, folder, url, variant }: Taken): Promise<readonly Row[]> {
  const scan = await runHalf('scan', url, folder, source, COMPRESSION);
  const published = await runHalf('publish', url, folder, source, scan.run);
  const at = `${records.toLocaleString('en')} ${source}, ${variant}`;
  const share = published.seconds / scan.seconds;
  return [
    { measured: `${at}: scan`, value: describe(scan) },
    { measured: `${at}: publish`, value: `${describe(published)}, ${published.readMb.toFixed(0)} MB read` },
    bounded(`${at}: publish / scan`, share.toFixed(2), `at most ${MOST_SHARE}`, share <= MOST_SHARE),
    bounded(
      `${at}: most memory`,
      `${published.peakMb.toFixed(0)} MB`,
      `below ${MOST_MB} MB`,
      published.peakMb < MOST_MB,
    ),
  ];
}

const describe = ({ seconds, cpuSeconds, peakMb }: Took): string =>
  `${seconds.toFixed(1)} s, CPU ${cpuSeconds.toFixed(1)} s, ${peakMb.toFixed(0)} MB`;

async function runHalf(...args: readonly string[]): Promise<Took> {
  const child = spawn(process.execPath, ['test/bench/publish-process.ts', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${args.join(' ')}: ended with ${code}`);
  return JSON.parse(printed) as Took;
}

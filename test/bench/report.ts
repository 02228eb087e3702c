import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { findBrowser } from '../browser/find-browser.ts';
import { openReport, startBrowser } from '../browser/open-report.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { measureProcess } from './measured-process.ts';
import { makeAllTables, publishRecords } from './report-records.ts';

/** `REPORT_RECORDS=200000 npm run bench -- report` measures another size. */
const SIZES = (process.env['REPORT_RECORDS'] ?? '20000,1000000').split(',').map(Number);

/** The required bounds; that of the page for up to so many calculations. */
const MOST_MB = 250;
const MOST_CPU_SECONDS = 5;
const MOST_WHERE_USED_CPU_SECONDS = 4;
const MOST_OPENING_SECONDS = 3;
const MOST_PAGE_BYTES = 2_000_000;
const LISTED_WHOLE = 20_000;

/**
 * The report over so many calculations and a seventh as many cards whose tables are made: the CPU time of its process,
 * and its opening in a browser.
 */
export const report: Bench = {
  name: 'report',
  about:
    'The report over so many calculations and a seventh as many cards, whose tables are made; `where-used` over the same; and the opening of the page in a browser.',
  async *run() {
    for (const records of SIZES) yield* await measure(records);
  },
};

type Took = {
  readonly cpuSeconds: number;
  readonly peakMb: number;
  readonly bytes: number;
  readonly records: number;
  readonly faults: readonly string[];
};

async function measure(records: number): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    const store = createDirectoryStore(folder);
    const id = await publishRecords(store, records);
    await makeAllTables(store, ['calculations', 'cards']);
    const file = join(folder, 'report.html');
    const words = ['test/bench/report-process.ts', folder, file];
    const took = async () => JSON.parse((await promisify(execFile)(process.execPath, words)).stdout) as Took;
    const first = {
      measured: `${records.toLocaleString('en')} calculations: the first report, which extracts uses and stores the model`,
      value: `${(await took()).cpuSeconds.toFixed(1)} CPU s`,
    };
    const { cpuSeconds } = await measureProcess({
      command: () => ['lib/cli/bin.js', 'where-used', id, '--json'],
      environment: () => ({ SYNC_STORE: folder }),
    });
    const whereUsed = bounded(
      `${records.toLocaleString('en')} calculations: where-used`,
      `${cpuSeconds.toFixed(1)} CPU s`,
      `below ${MOST_WHERE_USED_CPU_SECONDS} CPU s`,
      cpuSeconds < MOST_WHERE_USED_CPU_SECONDS,
    );
    return [first, ...rowsOf(await took(), records), whereUsed, await openingOf(file, records)];
  } finally {
    await rm(folder, { recursive: true });
  }
}

function rowsOf(
  { cpuSeconds, peakMb, bytes, records: found, faults }: Took,
  records: number,
): readonly Row[] {
  if (found !== records || faults.length > 0)
    throw new Error(`expected a report of ${records} calculations, got ${found}: ${faults.join('; ')}`);
  const at = `${records.toLocaleString('en')} calculations`;
  const page = `${(bytes / 1e6).toFixed(2)} MB`;
  return [
    bounded(
      `${at}: time`,
      `${cpuSeconds.toFixed(1)} CPU s`,
      `below ${MOST_CPU_SECONDS} CPU s`,
      cpuSeconds < MOST_CPU_SECONDS,
    ),
    bounded(`${at}: most memory`, `${peakMb.toFixed(0)} MB`, `below ${MOST_MB} MB`, peakMb < MOST_MB),
    records <= LISTED_WHOLE
      ? bounded(`${at}: page`, page, 'below 2 MB', bytes < MOST_PAGE_BYTES)
      : { measured: `${at}: page`, value: page },
  ];
}

/** The median of three: from asking a browser for the page to what it shows first, with all of its code run. */
async function openingOf(file: string, records: number): Promise<Row> {
  const measured = `${records.toLocaleString('en')} calculations: opening`;
  if (findBrowser() === undefined)
    return { measured, value: 'no browser: npm run test:browser -- --install' };
  await using browser = await startBrowser();
  const tookSeconds: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const startedMs = performance.now();
    const { page } = await openReport(browser, pathToFileURL(file).href);
    tookSeconds.push((performance.now() - startedMs) / 1_000);
    await page.context().close();
  }
  const seconds = tookSeconds.toSorted((a, b) => a - b)[1] ?? Number.NaN;
  return bounded(
    measured,
    `${seconds.toFixed(1)} s`,
    `below ${MOST_OPENING_SECONDS} s`,
    seconds < MOST_OPENING_SECONDS,
  );
}

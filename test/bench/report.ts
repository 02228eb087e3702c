import { statSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { findBrowser } from '../browser/find-browser.ts';
import { openReport, startBrowser } from '../browser/open-report.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { measureProcess, type Sample } from './measured-process.ts';
import { DAYS, makeAllTables, publishRecords, repeatDaily } from './report-records.ts';

/** `REPORT_RECORDS=200000 npm run bench -- report` measures another size. */
const SIZES = (process.env['REPORT_RECORDS'] ?? '20000,1000000').split(',').map(Number);

/** The required bounds. The size of the page is bounded only up to `LISTED_WHOLE` calculations. */
const MAX_MB = 250;
const MAX_LINEAGE_MB = 800;
const MAX_CPU_SECONDS = 5;
const MAX_WHERE_USED_CPU_SECONDS = 4;
const MAX_OPENING_SECONDS = 3;
const MAX_PAGE_BYTES = 2_000_000;
const LISTED_WHOLE = 20_000;

/**
 * The report over a number of calculations and a seventh as many cards, with built tables: the CPU time of its process,
 * and the time to open it in a browser.
 */
export const report: Bench = {
  name: 'report',
  about:
    'The report over so many calculations and a seventh as many cards, whose tables are made; `where-used` and `lineage` over the same; and the opening of the page in a browser.',
  async *run() {
    for (const records of SIZES) yield* await measure(records);
  },
};

async function measure(records: number): Promise<readonly Row[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
  const store = createDirectoryStore(folder.path);
  const id = await publishRecords(store, records);
  await makeAllTables(store, ['calculations', 'cards']);
  const file = join(folder.path, 'report.html');
  const took = (...words: readonly string[]) =>
    measureProcess({
      command: () => ['lib/cli/bin.js', ...words, '--json'],
      environment: () => ({ SYNC_STORE: folder.path }),
    });
  const report = () => took('report', '--output', file);
  const { cpuSeconds: firstSeconds, peakMb } = await report();
  const first = {
    measured: `${records.toLocaleString('en')} calculations: the first report, which stores the model`,
    value: `${firstSeconds.toFixed(1)} CPU s, ${peakMb.toFixed(0)} MB`,
  };
  const { cpuSeconds } = await took('where-used', id);
  const whereUsed = bounded(
    `${records.toLocaleString('en')} calculations: where-used`,
    `${cpuSeconds.toFixed(1)} CPU s`,
    `below ${MAX_WHERE_USED_CPU_SECONDS} CPU s`,
    cpuSeconds < MAX_WHERE_USED_CPU_SECONDS,
  );
  const lineage = await measureProcess({
    command: () => ['lib/cli/bin.js', 'lineage', '--output', join(folder.path, 'lineage.ndjson')],
    environment: () => ({ SYNC_STORE: folder.path }),
  });
  const rows = [first];
  if (records <= LISTED_WHOLE) {
    // The previous nights found the same records.
    const day = await repeatDaily(store, ['calculations', 'cards']);
    const past = await took('where-used', id, '--at', day);
    const page = await took('report', '--output', file, '--at', day);
    rows.push({
      measured: `${records.toLocaleString('en')} calculations, as of a year ago among ${DAYS} runs: where-used; the report`,
      value: [past, page]
        .map((each) => `${each.cpuSeconds.toFixed(1)} CPU s, ${each.peakMb.toFixed(0)} MB`)
        .join('; '),
    });
  }
  return [
    ...rows,
    bounded(
      `${records.toLocaleString('en')} calculations: lineage, most memory`,
      `${lineage.cpuSeconds.toFixed(1)} CPU s, ${lineage.peakMb.toFixed(0)} MB`,
      `below ${MAX_LINEAGE_MB} MB`,
      lineage.peakMb < MAX_LINEAGE_MB,
    ),
    ...rowsOf(await report(), statSync(file).size, records),
    whereUsed,
    await openingOf(file, records),
  ];
}

function rowsOf({ cpuSeconds, peakMb }: Sample, bytes: number, records: number): readonly Row[] {
  const at = `${records.toLocaleString('en')} calculations`;
  const page = `${(bytes / 1e6).toFixed(2)} MB`;
  return [
    bounded(
      `${at}: time`,
      `${cpuSeconds.toFixed(1)} CPU s`,
      `below ${MAX_CPU_SECONDS} CPU s`,
      cpuSeconds < MAX_CPU_SECONDS,
    ),
    bounded(`${at}: most memory`, `${peakMb.toFixed(0)} MB`, `below ${MAX_MB} MB`, peakMb < MAX_MB),
    records <= LISTED_WHOLE
      ? bounded(`${at}: page`, page, 'below 2 MB', bytes < MAX_PAGE_BYTES)
      : { measured: `${at}: page`, value: page },
  ];
}

/** The median of three: the time from opening the page in a browser until its first view is shown and all its code has run. */
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
    `below ${MAX_OPENING_SECONDS} s`,
    seconds < MAX_OPENING_SECONDS,
  );
}

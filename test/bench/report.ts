import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { publishRecords } from './report-records.ts';

/** `REPORT_RECORDS=1000000 npm run bench -- report` measures another size. */
const SIZES = (process.env['REPORT_RECORDS'] ?? '20000,200000').split(',').map(Number);

/** The required bounds; that of the page for up to so many calculations. */
const MOST_MB = 300;
const MOST_PAGE_BYTES = 2_000_000;
const LISTED_WHOLE = 20_000;

/** The report over so many calculations and a seventh as many cards, from the start of the process to the page. */
export const report: Bench = {
  name: 'report',
  async *run() {
    for (const records of SIZES) yield* await measure(records);
  },
};

type Took = {
  readonly seconds: number;
  readonly peakMb: number;
  readonly bytes: number;
  readonly records: number;
  readonly faults: readonly string[];
};

async function measure(records: number): Promise<readonly Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  try {
    await publishRecords(createDirectoryStore(folder), records);
    const { stdout } = await promisify(execFile)(process.execPath, ['test/bench/report-process.ts', folder]);
    return rowsOf(JSON.parse(stdout) as Took, records);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function rowsOf({ seconds, peakMb, bytes, records: found, faults }: Took, records: number): readonly Row[] {
  if (found !== records || faults.length > 0)
    throw new Error(`expected a report of ${records} calculations, got ${found}: ${faults.join('; ')}`);
  const at = `${records.toLocaleString('en')} calculations`;
  const page = `${(bytes / 1e6).toFixed(2)} MB`;
  return [
    { measured: `${at}: time`, value: `${seconds.toFixed(1)} s` },
    bounded(`${at}: most memory`, `${peakMb.toFixed(0)} MB`, `below ${MOST_MB} MB`, peakMb < MOST_MB),
    records <= LISTED_WHOLE
      ? bounded(`${at}: page`, page, 'below 2 MB', bytes < MOST_PAGE_BYTES)
      : { measured: `${at}: page`, value: page },
  ];
}

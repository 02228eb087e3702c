import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { publishRecords } from './report-records.ts';

/** `MODEL_RECORDS=200000 npm run bench -- model` measures another size. */
const RECORDS = Number(process.env['MODEL_RECORDS'] ?? 1_000_000);

/** CPU seconds of a step over a million calculations, and what the process may take. */
const MOST_CPU_SECONDS = { compute: 3.5, closure: 3.6 } as const;
const MOST_MB = 250;

type Took = { readonly cpuSeconds: number; readonly peakMb: number; readonly count: number };

/**
 * The model over so many calculations of the sandbox and a seventh as many cards, a process a step: extraction of what
 * they use, computing all flags from columns, and what depends on the dataset that most things use.
 */
export const model: Bench = {
  name: 'model',
  async *run() {
    const folder = await mkdtemp(join(tmpdir(), 'bench-'));
    try {
      await publishRecords(createDirectoryStore(folder), RECORDS);
      yield* rowsOf('tables', await took('tables', folder), 'records as Parquet');
      yield* rowsOf('extract', await took('extract', folder), 'extracted uses');
      yield* rowsOf('compute', await took('compute', folder), 'calculations in the model');
      yield* rowsOf('closure', await took('closure', folder), 'things depend on one dataset');
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

async function took(step: string, folder: string): Promise<Took> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    'test/bench/model-process.ts',
    step,
    folder,
  ]);
  return JSON.parse(stdout) as Took;
}

function* rowsOf(step: string, { cpuSeconds, peakMb, count }: Took, what: string): Generator<Row> {
  const measured = `${step} (${count.toLocaleString('en')} ${what})`;
  const most = Object.hasOwn(MOST_CPU_SECONDS, step)
    ? MOST_CPU_SECONDS[step as keyof typeof MOST_CPU_SECONDS]
    : undefined;
  const cpu = `${cpuSeconds.toFixed(1)} CPU s`;
  if (most === undefined) yield { measured: `${measured}: time`, value: cpu };
  else yield bounded(`${measured}: time`, cpu, `below ${most} CPU s`, cpuSeconds < most);
  yield bounded(
    `${measured}: most memory`,
    `${peakMb.toFixed(0)} MB`,
    `below ${MOST_MB} MB`,
    peakMb < MOST_MB,
  );
}

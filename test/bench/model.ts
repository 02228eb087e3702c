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
const MOST_CPU_SECONDS: Readonly<Record<string, number>> = { 'where-used': 4 };
const MOST_MB = 250;

type Took = { readonly cpuSeconds: number; readonly peakMb: number; readonly found: unknown };

/**
 * The model over so many calculations of the sandbox and a seventh as many cards, a process a step: extraction of what
 * they use, computing all of it from columns and storing it, and what depends on the dataset that most things use.
 */
export const model: Bench = {
  name: 'model',
  async *run() {
    const folder = await mkdtemp(join(tmpdir(), 'bench-'));
    try {
      await publishRecords(createDirectoryStore(folder), RECORDS);
      yield* rowsOf('tables', await took('tables', folder), 'Parquet and uses');
      yield* rowsOf('extract', await took('extract', folder), 'uses alone');
      yield* rowsOf('compute', await took('compute', folder), 'the model');
      yield* rowsOf('renew', await took('renew', folder), 'the model, computed and stored');
      const { found } = await took('most-used', folder);
      yield* rowsOf(
        'where-used',
        await took('where-used', folder, String(found)),
        'of the most used dataset',
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

async function took(...words: readonly string[]): Promise<Took> {
  const { stdout } = await promisify(execFile)(process.execPath, ['test/bench/model-process.ts', ...words]);
  return JSON.parse(stdout) as Took;
}

function* rowsOf(step: string, { cpuSeconds, peakMb }: Took, what: string): Generator<Row> {
  const measured = `${step} (${what})`;
  const most = MOST_CPU_SECONDS[step];
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

import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { stateOf } from '../sandbox/platform/call-platform.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { measureProcess, type Sample } from './measured-process.ts';
import { makeAllTables, publishRecords } from './report-records.ts';

const FORMULAS = 50_000;
const MAX_MB = 500;
const MAX_CPU_SECONDS = 15;
const COLUMN = 'Revenue';

/** Imports the formulas of the sandbox, and queries them. */
export const formulas: Bench = {
  name: 'formulas',
  about:
    'Whole processes over 50,000 calculations of the sandbox whose tables are made: `formula import` of the formulas of all; the first `where-used` of a column, which computes and stores the model with what all of them say, and the next one, which reads it; and `formula export` into an empty folder.',
  async *run() {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
    const store = createDirectoryStore(join(folder.path, 'store'));
    await publishRecords(store, FORMULAS);
    await makeAllTables(store, ['calculations', 'cards']);
    const list = join(folder.path, 'formulas.ndjson');
    await writeFile(list, linesOf().join(''));
    const took = (...words: readonly string[]) =>
      measureProcess({
        command: () => ['lib/cli/bin.js', ...words, '--json'],
        environment: () => ({ SYNC_STORE: store.location }),
      });
    yield* rowsOf('import', await took('formula', 'import', list));
    const column = ['where-used', COLUMN, '--kind', 'column', '--limit', '10'];
    yield* rowsOf('where-used of a column, the first', await took(...column));
    yield* rowsOf('where-used of a column', await took(...column));
    yield* rowsOf('export', await took('formula', 'export', join(folder.path, 'out')));
  },
};

/** The formulas of all calculations, one line each. */
function linesOf(): readonly string[] {
  const {
    calculations,
    formulas: texts,
    datasets,
  } = stateOf({
    calculations: FORMULAS,
    datasets: FORMULAS / 50,
    cards: Math.round(FORMULAS / 7),
  });
  return calculations.byId().map((sequence) => {
    const calculation = calculations.at(sequence);
    const { id, name, datasetIndex = -1 } = calculation;
    const expression = texts.expressionOf(calculation);
    return `${JSON.stringify({ id, name, expression, datasetId: datasets[datasetIndex]?.id ?? null })}\n`;
  });
}

const rowsOf = (what: string, { cpuSeconds, peakMb }: Sample): readonly Row[] => [
  bounded(
    `50,000 formulas: ${what}`,
    `${cpuSeconds.toFixed(1)} CPU s, ${peakMb.toFixed(0)} MB`,
    `below ${MAX_CPU_SECONDS} CPU s and ${MAX_MB} MB`,
    cpuSeconds < MAX_CPU_SECONDS && peakMb < MAX_MB,
  ),
];

import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import { stateOf } from '../sandbox/platform/call-platform.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { memoryAtStart } from './cold.ts';
import { cost } from './cost.ts';
import { measureProcess, median } from './measured-process.ts';
import { DAYS, makeAllTables, publishRecords, repeatDaily } from './report-records.ts';
import { startSandboxProcess } from './sandbox-process.ts';

/** Requests a second. */
const RATE = 20;
const LATENCY_MS = 50;

/** Maximum duration, as a multiple of the time that the rate alone requires: starts, publishing and tables take time too. */
const MAX_NIGHT = 1.4;
const MAX_SCORING = 1.1;

const TEXTS = 100_000;
/** Number of texts that are scored here. Further texts take equally long each. */
const SCORED = 1_600;

/** The memory of the stack's smallest function, and the share of it that a start may use. */
const SMALLEST_MB = 256;
const MAX_SHARE = 0.5;

/** Maximum growth of a command's time from 30 to 365 nights: a third of the growth in runs, which is twelvefold. */
const MAX_GROWTH = 4;
const FEW_DAYS = 30;

/** The figures that a user notices. The other benches explain them. */
export const everyday: Bench = {
  name: 'everyday',
  about: `What a user notices. The other sections say where that comes from. Whole processes in a folder, against a sandbox that takes ${LATENCY_MS} ms for a response, at ${RATE} requests a second: a night cannot take less than its requests divided by the rate. Of 100,000 texts, ${SCORED.toLocaleString('en')} are scored. The smallest function has ${SMALLEST_MB} MB. A year of nights holds the same 20,000 calculations and their cards each night.`,
  async *run() {
    yield await night();
    const typical = (await cost.run()) as readonly Row[];
    yield* typical.filter(({ measured }) => measured === 'Typical').map(dollars);
    yield await scoring();
    yield await smallest();
    yield* await year();
  },
};

async function night(): Promise<Row> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
  await using sandbox = await startSandboxProcess('--latency', String(LATENCY_MS));
  const filesets = stateOf().fileSets.map(({ id }) => id);
  const take = (...words: readonly string[]) =>
    measureProcess({
      command: () => ['lib/cli/bin.js', 'snapshot', ...words, '--json'],
      environment: () => ({ ...sandbox.settings, PLATFORM_RATE: String(RATE), SYNC_STORE: folder.path }),
    });
  const seconds = [];
  for (const words of [
    ['calculations'],
    ['cards'],
    ['files', ...filesets.flatMap((id) => ['--fileset', id])],
  ])
    seconds.push((await take(...words)).seconds);
  const { byOperation } = await sandbox.counts();
  const requests = sum(Object.values(byOperation).flatMap((statuses) => Object.values(statuses)));
  const took = sum(seconds);
  const least = requests / RATE;
  return bounded(
    'seconds of a night: 20,000 calculations, their cards, the files',
    `${took.toFixed(0)} s for ${requests} requests`,
    `at most ${MAX_NIGHT} times their number ÷ ${RATE}`,
    took <= MAX_NIGHT * least,
  );
}

const dollars = (row: Row): Row => ({
  ...row,
  measured: 'dollars of a month: such nights, 1,000 jobs a day, 100,000 texts',
});

async function scoring(): Promise<Row> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
  await using sandbox = await startSandboxProcess('--latency', String(LATENCY_MS), '--calculations', '10');
  const file = join(folder.path, 'texts.csv');
  const texts = Array.from({ length: SCORED }, (_, text) => `text ${text} was fine`);
  await writeFile(file, ['text', ...texts].join('\n'));
  const { seconds } = await measureProcess({
    command: () => ['lib/cli/bin.js', 'score', file, '--text', 'text', '--batch', 'bench', '--json'],
    environment: () => ({
      ...sandbox.settings,
      PLATFORM_RATE: String(RATE),
      SYNC_STORE: join(folder.path, 'store'),
    }),
  });
  const minutes = ((seconds / SCORED) * TEXTS) / 60;
  const least = TEXTS / RATE / 60;
  return bounded(
    `minutes until ${TEXTS.toLocaleString('en')} texts are scored`,
    `${minutes.toFixed(0)} min`,
    `at most ${MAX_SCORING} times ${least.toFixed(0)}`,
    minutes <= MAX_SCORING * least,
  );
}

async function smallest(): Promise<Row> {
  const mb = await memoryAtStart('move-jobs');
  return bounded(
    `megabytes of the smallest function (${SMALLEST_MB} MB) once it has started`,
    `${mb.toFixed(0)} MB`,
    `at most ${MAX_SHARE * SMALLEST_MB} MB`,
    mb <= MAX_SHARE * SMALLEST_MB,
  );
}

/** The time of commands after a year of nights, compared with a month. */
async function year(): Promise<readonly Row[]> {
  const few = await commandsOver(FEW_DAYS);
  const many = await commandsOver(DAYS);
  return Object.entries(many).map(([command, { cpuSeconds, peakMb }]) => {
    const before = few[command]?.cpuSeconds ?? Number.NaN;
    const growth = cpuSeconds / before;
    return bounded(
      `\`${command}\` after ${FEW_DAYS} nights; after ${DAYS}`,
      `${before.toFixed(1)} CPU s; ${cpuSeconds.toFixed(1)} CPU s, ${peakMb.toFixed(0)} MB`,
      `at most ${MAX_GROWTH} times as much`,
      growth <= MAX_GROWTH,
    );
  });
}

async function commandsOver(nights: number) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-'));
  const store = createDirectoryStore(folder.path);
  await publishRecords(store, 20_000);
  await repeatDaily(store, ['calculations', 'cards'], nights);
  await makeAllTables(store, ['calculations', 'cards']);
  const commands = {
    runs: ['runs'],
    query: ['query', 'SELECT status, count(*) FROM calculations GROUP BY status'],
    report: ['report', '--output', join(folder.path, 'report.html')],
    prune: ['prune', '--keep', '30', '--dry-run'],
    digest: ['digest'],
  };
  const took: Record<string, { readonly cpuSeconds: number; readonly peakMb: number }> = {};
  for (const [name, words] of Object.entries(commands)) {
    const samples = [];
    for (let round = 0; round < 4; round += 1)
      samples.push(
        await measureProcess({
          command: () => ['lib/cli/bin.js', ...words, '--json'],
          environment: () => ({ SYNC_STORE: folder.path }),
        }),
      );
    // The first report computes the model, which later ones only read.
    const [, ...later] = samples;
    took[name] = {
      cpuSeconds: median(later.map(({ cpuSeconds }) => cpuSeconds)),
      peakMb: Math.max(...later.map(({ peakMb }) => peakMb)),
    };
  }
  return took;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

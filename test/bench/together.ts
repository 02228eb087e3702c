import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codePackages } from '../../lib/sandbox/platform/functions/packages.ts';
import { type Bench, bounded, percent, type Row } from './bench.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.ts';

const RATE = 20;
const SECONDS = 30;
const MIN_SHARE = 0.95;
const MAX_SECONDS = 10;

/** How much commands slow each other down that share a store, its queue and its budget. */
export const together: Bench = {
  name: 'together',
  about:
    'Commands on one folder at a rate of 20/s, with 50 ms a call: two that score the same file, and a function that is sent into a queue full of jobs of 100 texts each: they are no chunks of a batch, so the pace gives them the same share.',
  async run() {
    return [await withSandbox(sameTexts), await withSandbox(functionAmongChunks)];
  },
};

type Stage = { readonly sandbox: SandboxProcess; readonly folder: string; readonly start: Start };
type Start = (...argv: readonly string[]) => ChildProcess;

async function withSandbox(measure: (stage: Stage) => Promise<Row>): Promise<Row> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-together-'));
  await using sandbox = await startSandboxProcess('--latency', '50', '--calculations', '100');
  const started: ChildProcess[] = [];
  const start: Start = (...argv) => {
    const child = spawn(process.execPath, ['lib/cli/bin.js', ...argv], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        ...sandbox.settings,
        PLATFORM_RATE: String(RATE),
        SYNC_STORE: join(folder.path, 'store'),
        LOG_LEVEL: 'silent',
      },
    });
    started.push(child);
    return child;
  };
  try {
    return await measure({ sandbox, folder: folder.path, start });
  } finally {
    for (const child of started) await end(child);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Several commands score the same texts. Counting starts ten seconds after the first text. */
async function sameTexts({ sandbox, folder, start }: Stage): Promise<Row> {
  const file = join(folder, 'texts.csv');
  await writeFile(file, ['text', ...textsOf(RATE * (SECONDS + 60))].join('\n'));
  for (let process = 0; process < 2; process += 1) start('score', file, '--text', 'text', '--batch', 'same');
  const scored = () => countOf(sandbox, 'analyzeSentiment');
  while ((await scored()) === 0) await sleep(50);
  await sleep(10_000);
  const [before, startedMs] = [await scored(), performance.now()];
  await sleep(SECONDS * 1_000);
  const share = ((await scored()) - before) / ((performance.now() - startedMs) / 1_000) / RATE;
  return bounded(
    'two processes score the same texts: share of the rate used',
    percent(share),
    'at least 95 %',
    share >= MIN_SHARE,
  );
}

async function functionAmongChunks({ sandbox, folder, start }: Stage): Promise<Row> {
  const chunks = Array.from({ length: 60 }, (_, chunk) => ({
    version: 1,
    type: 'score',
    texts: textsOf(100, chunk).map((text, at) => ({ id: `${chunk}-${at}`, text })),
  }));
  await submit(chunks);
  start('work');
  while ((await countOf(sandbox, 'analyzeSentiment')) < 10 * RATE) await sleep(50);
  const job = { version: 1, type: 'run-function', id: 'between', ...addNumbers };
  const startedMs = performance.now();
  await submit([job]);
  while ((await countOf(sandbox, 'runFunction')) === 0 && performance.now() - startedMs < 120_000)
    await sleep(50);
  const seconds = (performance.now() - startedMs) / 1_000;
  return bounded(
    'a function sent into a queue of 60 jobs of 100 texts starts within',
    `${seconds.toFixed(1)} s`,
    `${MAX_SECONDS} s`,
    seconds <= MAX_SECONDS,
  );

  async function submit(jobs: readonly object[]): Promise<void> {
    const file = join(folder, 'jobs.ndjson');
    await writeFile(file, jobs.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const [code] = await once(start('submit', file), 'exit');
    if (code !== 0) throw new Error(`submit: ended with ${code}`);
  }
}

const addNumbers = {
  packageId: codePackages[0]?.id,
  packageVersion: '1.0.0',
  functionName: 'addNumbers',
  inputVariables: { first: 1, second: 2 },
};

const textsOf = (count: number, of = 0): readonly string[] =>
  Array.from({ length: count }, (_, at) => `this is text ${at} of ${of} and it was fine`);

async function countOf(sandbox: SandboxProcess, operation: string): Promise<number> {
  const { byOperation } = await sandbox.counts();
  return byOperation[operation]?.['200'] ?? 0;
}

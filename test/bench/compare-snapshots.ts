import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { sleep } from '../../lib/base/async.ts';
import { parseJson } from '../../lib/base/json/json.ts';
import { byPip } from '../conformance/engines/fetch.ts';
import { fetchEngine } from '../conformance/runner/fetch-engine.ts';
import { startGuard } from '../conformance/runner/guard.ts';
import { type SandboxProcess, startSandboxProcess } from './sandbox-process.ts';

/*
 * The second half of `npm run compare`: copies all calculations with dlt's REST client, as in its manual, and with
 * platform-sync, while records are added, changed and deleted. Then it repeats this, kills each halfway and starts it
 * again.
 */

const RECORDS = 100_000;

const CHANGES_A_SECOND = 50;

const FETCH_MS = 600_000;

type Contender = {
  readonly name: string;
  readonly command: (folder: string) => readonly [string, ...string[]];
  /** The command after a kill. Default: the same one. */
  readonly again?: (folder: string) => readonly [string, ...string[]];
  /** The ids of all rows that were written, including repeated ones. */
  readonly ids: (folder: string) => Promise<readonly string[]>;
};

/**
 * Prints a table with the time, the lost rows and the repeated rows of each. Returns the number of rows that
 * platform-sync lost or repeated.
 */
export async function compareSnapshots(): Promise<number> {
  await using guard = startGuard();
  const cache = process.env['CONFORMANCE_CACHE'] ?? join(homedir(), '.cache', 'platform-sync', 'conformance');
  const dlt = {
    name: 'dlt',
    version: '1.31.0',
    fetch: byPip('dlt[parquet]==1.31.0'),
    start: () => ({ engines: {} }),
  };
  const signal = AbortSignal.timeout(FETCH_MS);
  const python = await fetchEngine(dlt, { cache, guard, signal }).then(
    (folder) => join(folder, 'venv', 'bin', 'python'),
    (error: unknown) => console.log(`\ndlt is not to be had here: ${String(error)}`),
  );
  const contenders = [...(python === undefined ? [] : dltBy(python)), ...ours];
  console.log(
    `\nA snapshot of ${RECORDS.toLocaleString('en')} calculations, ${CHANGES_A_SECOND} changes a second.\n`,
  );
  console.log(
    '| by | seconds | CPU s | peak MB | requests | lost of those that existed throughout | twice | after kill -9 half-way: seconds, requests | then lost, twice |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|');
  let wrong = 0;
  for (const contender of contenders) {
    const undisturbed = await runOne(contender, false);
    const killed = await runOne(contender, true);
    if (ours.includes(contender)) wrong += undisturbed.lost + undisturbed.twice + killed.lost + killed.twice;
    const { seconds, cpuSeconds, peakMb, requests, lost, twice } = undisturbed;
    const took = [seconds.toFixed(1), cpuSeconds.toFixed(1), peakMb.toFixed(0), requests, lost, twice];
    const then = [`${killed.seconds.toFixed(1)}, ${killed.requests}`, `${killed.lost}, ${killed.twice}`];
    console.log(`| ${[contender.name, ...took, ...then].join(' | ')} |`);
  }
  return wrong;
}

const dltBy = (python: string): readonly Contender[] =>
  ['jsonl', 'parquet'].map((format) => ({
    name: `dlt, ${format}`,
    command: (folder) => [python, join(import.meta.dirname, 'contenders', 'dlt_snapshot.py'), folder, format],
    ids: async (folder) => (await readFile(join(folder, 'ids.txt'), 'utf8')).split('\n').slice(0, -1),
  }));

const command = (...words: readonly string[]) =>
  [
    process.execPath,
    ...['--import', './test/bench/took-at-exit.js', 'lib/cli/bin.js', 'snapshot', 'calculations', '--json'],
    ...words,
  ] as const;

const ours: readonly Contender[] = [
  { name: 'platform-sync, JSON lines', words: ['--no-tables'] },
  { name: 'platform-sync, JSON lines and Parquet', words: [] },
].map(({ name, words }) => ({
  name,
  command: () => command(...words),
  again: () => command(...words, '--resume', 'last'),
  ids: publishedIds,
}));

async function publishedIds(folder: string): Promise<readonly string[]> {
  const { manifest } = JSON.parse(await readFile(join(folder, 'calculations', 'latest.json'), 'utf8'));
  const { parts } = JSON.parse(await readFile(join(folder, manifest), 'utf8'));
  const ids: string[] = [];
  for (const { key } of parts)
    for await (const line of createInterface({
      input: createReadStream(join(folder, key)).pipe(createGunzip()),
    }))
      ids.push(String((parseJson(line) as { readonly id: string | number | bigint }).id));
  return ids;
}

async function runOne(contender: Contender, isKilled: boolean) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'compare-'));
  const flags = ['--calculations', RECORDS, '--churn', CHANGES_A_SECOND].map(String);
  await using sandbox = await startSandboxProcess(...flags);
  const environment = {
    ...sandbox.settings,
    PLATFORM_RATE: '50',
    SYNC_STORE: folder.path,
    SYNC_COMPRESSION: 'gzip',
  };
  let from = Date.now();
  if (isKilled) {
    const first = start(contender.command(folder.path), environment);
    // Half of the pages for the contender with a thousand rows a page; a fifth of that number for larger pages.
    await untilRequested(sandbox, contender.again === undefined ? RECORDS / 2_000 : RECORDS / 10_000);
    first.child.kill('SIGKILL');
    await first.ended;
    if (contender.again === undefined) from = Date.now();
  }
  const before = await requestsOf(sandbox);
  const startedMs = performance.now();
  const words = isKilled && contender.again ? contender.again : contender.command;
  const { child, ended } = start(words(folder.path), environment);
  const { printed, errors } = await ended;
  const seconds = (performance.now() - startedMs) / 1_000;
  if (child.exitCode !== 0)
    throw new Error(`${contender.name} ended with ${child.exitCode}: ${errors.slice(-500)}`);
  const requests = (await requestsOf(sandbox)) - before;
  const path = `_sandbox/lived-through?from=${from}&to=${Date.now()}`;
  const lived = (await (await fetch(`${sandbox.settings['PLATFORM_BASE_URL']}/${path}`)).json()) as string[];
  const ids = await contender.ids(folder.path);
  const taken = new Set(ids);
  const [, kb, cpuMicros] = /peak-kb (\d+) cpu-us (\d+)/.exec(errors) ?? [];
  const own =
    kb === undefined
      ? JSON.parse(printed)
      : { peakMb: Number(kb) / 1_000, cpuSeconds: Number(cpuMicros) / 1e6 };
  const { cpuSeconds, peakMb } = own as { readonly cpuSeconds: number; readonly peakMb: number };
  const lost = lived.filter((id) => !taken.has(id)).length;
  return { seconds, requests, cpuSeconds, peakMb, lost, twice: ids.length - taken.size };
}

function start(
  [program, ...words]: readonly [string, ...string[]],
  environment: Readonly<Record<string, string>>,
) {
  const child = spawn(program, words, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
    ([printed, errors]) => ({ printed, errors }),
  );
  return { child, ended };
}

const requestsOf = async (sandbox: SandboxProcess): Promise<number> =>
  Object.values((await sandbox.counts()).byOperation)
    .flatMap((counts) => Object.values(counts))
    .reduce((sum, count) => sum + count, 0);

async function untilRequested(sandbox: SandboxProcess, count: number): Promise<void> {
  while ((await requestsOf(sandbox)) < count) await sleep(20);
}

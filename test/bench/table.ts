import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { startAwsInMemory } from './aws-in-memory.ts';
import type { Bench, Row } from './bench.ts';
import { median } from './measured-process.ts';
import { type RaceServer, startRaceServer } from './race-server.ts';

/** `PIECES=500 ROUNDS=1 npm run bench -- table` is a quick look. */
const PIECES = Number(process.env['PIECES'] ?? 2_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const STARTS = 7;

type Took = { readonly cpuMs: number; readonly wallMs: number; readonly blockedMs: readonly number[] };

/**
 * The cost of a function and of a text for a command on SQLite and on DynamoDB (an in-memory stand-in in another
 * process), how long a commit of SQLite blocks the event loop, and how long a command takes that reads one row. The
 * store is always a folder.
 */
export const table: Bench = {
  name: 'table',
  about:
    'What a function and a text take of a command on SQLite and on DynamoDB, whose stand-in answers from memory in another process; for how long a commit of SQLite blocks the event loop; and how long a command takes that reads one row. The store is a folder in all of them.',
  async *run() {
    await using server = await startRaceServer();
    await using aws = await startAwsInMemory();
    const tables = {
      SQLite: {},
      DynamoDB: { SYNC_TABLE: 'ledger', ...aws.settings },
    } as const satisfies Record<string, Readonly<Record<string, string>>>;
    const names = Object.keys(tables) as (keyof typeof tables)[];
    for (const [what, measure, runs] of MEASURES) {
      const took: Record<keyof typeof tables, Took[]> = { SQLite: [], DynamoDB: [] };
      // They take turns, so that other load of the machine affects all of them.
      for (let run = 0; run < runs; run += 1)
        for (const name of names) took[name].push(await inFolder(tables[name], server, measure));
      for (const name of names) yield rowOf(`${what}, ${name}`, took[name]);
    }
  },
};

type Ran = (argv: readonly string[]) => Promise<Took>;
type Measure = (run: Ran, folder: string) => Promise<Took>;

const functions: Measure = async (run, folder) => eachOf(await run(['run', await jobsIn(folder, PIECES)]));

const texts: Measure = async (run, folder) => {
  const file = join(folder, 'texts.csv');
  const lines = Array.from({ length: PIECES }, (_, index) => `this is text ${index}`);
  await writeFile(file, `text\n${lines.join('\n')}\n`);
  return eachOf(await run(['score', file, '--text', 'text']));
};

const start: Measure = async (run, folder) => {
  await run(['run', await jobsIn(folder, 1)]);
  return run(['jobs', 'job-0']);
};

async function jobsIn(folder: string, count: number): Promise<string> {
  const file = join(folder, 'jobs.ndjson');
  const job = {
    version: 1,
    type: 'run-function',
    packageId: PACKAGE,
    packageVersion: '1',
    functionName: 'f',
  };
  const lines = Array.from({ length: count }, (_, at) =>
    JSON.stringify({ ...job, id: `job-${at}`, inputVariables: { job: `${at}` } }),
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

const MEASURES = [
  ['a function', functions, ROUNDS],
  ['a text', texts, ROUNDS],
  ['a command that reads one row', start, STARTS],
] as const satisfies readonly (readonly [string, Measure, number])[];

const PACKAGE = '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403';

const eachOf = ({ cpuMs, wallMs, blockedMs }: Took): Took => ({
  cpuMs: cpuMs / PIECES,
  wallMs: wallMs / PIECES,
  blockedMs,
});

async function inFolder(
  settings: Readonly<Record<string, string>>,
  server: RaceServer,
  measure: Measure,
): Promise<Took> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-table-'));
  const environment = {
    ...settings,
    SYNC_STORE: join(folder.path, 'store'),
    PLATFORM_BASE_URL: server.url,
    PLATFORM_TOKEN: 'token',
    PLATFORM_RATE: '10000',
    PLATFORM_CONCURRENCY: '16',
    LOG_LEVEL: 'silent',
  };
  return await measure((argv) => command(argv, environment), folder.path);
}

async function command(argv: readonly string[], environment: Readonly<Record<string, string>>) {
  const startedMs = performance.now();
  const child = spawn(
    process.execPath,
    ['--import', './test/bench/command-probe.ts', 'lib/cli/bin.js', ...argv],
    { env: { PATH: process.env['PATH'], ...environment }, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const ended = once(child, 'exit');
  const [errors, probed] = await Promise.all(
    [child.stdio[2], child.stdio[3]].map((pipe) => text(pipe as Readable)),
  );
  const [code] = await ended;
  if (code !== 0) throw new Error(`${argv[0]}: ended with ${code}: ${errors}`);
  const wallMs = performance.now() - startedMs;
  return { wallMs, ...(JSON.parse(probed ?? '') as Pick<Took, 'cpuMs' | 'blockedMs'>) };
}

function rowOf(measured: string, took: readonly Took[]): Row {
  const of = (value: (each: Took) => number) => median(took.map(value)).toFixed(2);
  const blocked = took.flatMap(({ blockedMs }) => blockedMs).toSorted((a, b) => a - b);
  const at = (share: number) => (blocked[Math.floor(share * blocked.length)] ?? 0).toFixed(1);
  const commits = blocked.length === 0 ? '' : `; a commit blocks for ${at(0.5)} ms, p99 ${at(0.99)} ms`;
  return {
    measured,
    value: `${of(({ cpuMs }) => cpuMs)} ms of CPU, ${of(({ wallMs }) => wallMs)} ms of wall${commits}`,
  };
}

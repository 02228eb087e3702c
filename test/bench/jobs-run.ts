import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { AwsInMemory } from './aws-in-memory.ts';
import { type RaceJob, type RaceRecord, redelivered } from './jobs-records.ts';
import type { RaceServer } from './race-server.ts';

const CONTENDERS = {
  ours: { handler: '../../functions/run-jobs/handler.ts', killed: './contenders/renewed-handler.ts' },
  recommended: {
    handler: './contenders/powertools-handler.js',
    killed: './contenders/powertools-handler.js',
  },
  careful: { handler: './contenders/careful-handler.js', killed: './contenders/careful-handler.js' },
  loop: { handler: './contenders/loop-handler.js', killed: './contenders/loop-handler.js' },
  'p-queue': { handler: './contenders/p-queue-handler.js', killed: './contenders/p-queue-handler.js' },
} as const;

export type Contender = keyof typeof CONTENDERS;
const all = Object.keys(CONTENDERS) as readonly Contender[];
const named = process.env['CONTENDERS']?.split(',') ?? ['ours', 'recommended', 'careful'];
/** Those that race. */
export const contenders = all.filter((name) => named.includes(name));
if (contenders.length < named.length) throw new Error(`CONTENDERS: expected some of ${all}, got ${named}`);

export type Stage = { readonly aws: AwsInMemory; readonly server: RaceServer };

/** What all jobs but the first one of each process took, until the last one was finished or given up. */
export type Took = {
  /** Finished ones. */
  readonly jobs: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** By service. */
  readonly requests: Readonly<Record<string, number>>;
};

const NOTHING: Took = { jobs: 0, wallMs: 0, cpuMs: 0, requests: {} };

type Run = {
  readonly name: Contender;
  readonly records: readonly RaceRecord[];
  /** Kill the process when it has done so many functions or texts, before the last response arrives. */
  readonly killAfter?: number | undefined;
  /** With leases that end soon, so that the jobs of a killed process are taken over while the bench runs. */
  readonly killed: boolean;
};

type Printed = { readonly finished: readonly string[]; readonly took: Took };

/** Runs a contender in a process of its own. */
async function runRecords({ aws, server }: Stage, { name, records, killAfter, killed }: Run) {
  const contender = CONTENDERS[name];
  const args = [killed ? contender.killed : contender.handler, killed ? '2000' : '600000'];
  const child = spawn(process.execPath, [...process.execArgv, 'test/bench/jobs-process.ts', ...args], {
    env: { PATH: process.env['PATH'], ...environmentOf(name, aws, server), ...(killed ? SOON : {}) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(records));
  if (killAfter !== undefined) void server.afterMore(killAfter).then(() => child.kill('SIGKILL'));
  const finished = new Set<string>();
  let took = NOTHING;
  for await (const line of createInterface(child.stdout)) {
    // A handler may print lines of its own, such as metrics; of the last line a kill may leave a piece.
    if (!line.startsWith('{"finished"') || !line.endsWith('}}}')) continue;
    const printed: Printed = JSON.parse(line);
    for (const messageId of printed.finished) finished.add(messageId);
    took = printed.took;
  }
  const [code, signal] = await ended;
  const isKilled = killAfter !== undefined && signal === 'SIGKILL';
  if (code !== 0 && !isKilled) throw new Error(`${name}: ended with ${code ?? signal}`);
  return { finished, took, isKilled };
}

/** A claim of a text outlives the call that it is for. */
const SOON = { PLATFORM_TIMEOUT_MS: '4000' };

/** Runs a contender, which is killed so many times, and does the rest in a last process. */
export async function runJobs(
  stage: Stage,
  name: Contender,
  { jobs, kills = 0 }: { readonly jobs: readonly RaceJob[]; readonly kills?: number },
): Promise<Took> {
  let left = jobs.map(({ record }) => record);
  let took = NOTHING;
  const pieces = jobs.flatMap(({ keys }) => keys).length;
  for (let process = 0; left.length > 0 && process <= kills; process += 1) {
    const killAfter = process < kills ? Math.floor(pieces / (kills + 1)) : undefined;
    const run = await runRecords(stage, { name, records: left, killAfter, killed: kills > 0 });
    took = added(took, run.took);
    left = left.filter(({ messageId }) => !run.finished.has(messageId)).map(redelivered);
    // It has given up what is left.
    if (!run.isKilled) break;
  }
  return took;
}

const added = (a: Took, b: Took): Took => ({
  jobs: a.jobs + b.jobs,
  wallMs: a.wallMs + b.wallMs,
  cpuMs: a.cpuMs + b.cpuMs,
  requests: Object.fromEntries(
    [...new Set([...Object.keys(a.requests), ...Object.keys(b.requests)])].map((name) => [
      name,
      (a.requests[name] ?? 0) + (b.requests[name] ?? 0),
    ]),
  ),
});

export type Outcome = {
  /** Functions that ran, and texts that were scored, once more than once. */
  readonly doubles: number;
  /** Jobs without a result, or whose result lacks what the platform returned without saying so. */
  readonly lost: number;
  readonly unknown: number;
  /** Unknown ones of which nothing ever ran. */
  readonly neverRan: number;
  readonly failed: number;
};

/** What happened to jobs, by the results that lie in the bucket, and by what the platform has executed. */
export function outcomeOf({ aws, server }: Stage, name: Contender, jobs: readonly RaceJob[]): Outcome {
  const results = new Map<string, string>();
  for (const [key, body] of aws.objects) {
    if (!key.startsWith(`${BUCKET}/${name}/results/`)) continue;
    results.set(/([^/]+)\.json$/.exec(key)?.[1] ?? '', body.toString());
  }
  const outcome = { doubles: 0, done: 0, lost: 0, unknown: 0, neverRan: 0, failed: 0 };
  for (const { record, keys } of jobs) {
    const runs = keys.map((key) => server.executions(key));
    outcome.doubles += runs.reduce((all, each) => all + Math.max(0, each - 1), 0);
    const kind = kindOf(results.get(record.messageId), keys.length);
    outcome[kind] += 1;
    if (kind === 'unknown' && runs.every((each) => each === 0)) outcome.neverRan += 1;
  }
  return outcome;
}

/** How a job ended: `done` only if its result shows each thing that the platform returned. */
function kindOf(result: string | undefined, pieces: number) {
  if (result === undefined) return 'lost';
  if (result.includes('"status":"unknown"')) return 'unknown';
  if (result.includes('"status":"failed"')) return 'failed';
  const shown = result.match(/"(?:POSITIVE|SUCCESS)"/g) ?? [];
  return shown.length >= pieces ? 'done' : 'lost';
}

const BUCKET = 'jobs';

const environmentOf = (name: Contender, aws: AwsInMemory, { url }: RaceServer) => ({
  ...aws.settings,
  PLATFORM_BASE_URL: url,
  PLATFORM_TOKEN: 'token',
  PLATFORM_RATE: '5000',
  PLATFORM_CONCURRENCY: '10',
  SYNC_STORE: `s3://${BUCKET}/${name}`,
  SYNC_TABLE: 'ours',
  SYNC_QUEUE_URL: `${aws.endpoint}/000000000000/jobs`,
  LOG_LEVEL: 'error',
  BENCH_BUCKET: BUCKET,
  BENCH_PREFIX: `${name}/`,
  BENCH_TABLE: 'powertools',
});

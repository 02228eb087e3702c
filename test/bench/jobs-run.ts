import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { dynamoDbLocal } from '../conformance/engines/dynamodb-local.ts';
import { fetchEngine } from '../conformance/runner/fetch-engine.ts';
import { startGuard } from '../conformance/runner/guard.ts';
import { startEngine } from '../conformance/runner/start-engine.ts';
import { credentials, REGION } from '../local-aws/identity.ts';
import { createTables } from '../local-aws/services/start-dynamo-db.ts';
import { type AwsInMemory, startAwsInMemory } from './aws-in-memory.ts';
import { type RaceJob, type RaceRecord, redelivered } from './jobs-records.ts';
import { type RaceServer, startRaceServer } from './race-server.ts';

/** The files of a contender's handler. `killed`: a variant with short leases, if it differs. */
type HandlerFiles = { readonly handler: string; readonly killed?: string };

const RENEWED = './contenders/renewed-handler.ts';
const OURS = { handler: '../../functions/run-jobs/handler.ts', killed: RENEWED };

const CONTENDERS = {
  ours: OURS,
  /** Our worker on DynamoDB Local, which needs Java, and Maven the first time. */
  'dynamodb-local': OURS,
  /** Our worker on SQLite and a folder, without AWS. */
  sqlite: { handler: RENEWED },
  recommended: { handler: './contenders/powertools-handler.js' },
  'per-call': { handler: './contenders/per-call-handler.js' },
  careful: { handler: './contenders/careful-handler.js' },
  loop: { handler: './contenders/loop-handler.js' },
  'p-queue': { handler: './contenders/p-queue-handler.js' },
} as const satisfies Readonly<Record<string, HandlerFiles>>;

export type Contender = keyof typeof CONTENDERS;
const all = Object.keys(CONTENDERS) as readonly Contender[];
const { CONTENDERS: asked = 'ours,sqlite,recommended,per-call,careful' } = process.env;
const named = asked.split(',');
/** The contenders that race. */
export const contenders = all.filter((name) => named.includes(name));
if (contenders.length < named.length) throw new Error(`CONTENDERS: expected some of ${all}, got ${named}`);

/** The contenders that must keep our promises. */
export const isOurs = (name: Contender): boolean => ['ours', 'sqlite', 'dynamodb-local'].includes(name);

export type Stage = AsyncDisposable & {
  readonly aws: AwsInMemory;
  readonly server: RaceServer;
  /** The store of the contender without AWS. */
  readonly folder: string;
  /** The settings of the contender on DynamoDB Local; undefined if it does not race. */
  readonly dynamoDb?: Readonly<Record<string, string>> | undefined;
};

export async function openStage(): Promise<Stage> {
  await using opened = new AsyncDisposableStack();
  const server = opened.use(await startRaceServer());
  const aws = opened.use(await startAwsInMemory());
  const folder = await mkdtemp(join(tmpdir(), 'bench-jobs-'));
  opened.defer(() => rm(folder, { recursive: true }));
  const dynamoDb = contenders.includes('dynamodb-local') ? await startDynamoDbLocal(opened) : undefined;
  const all = opened.move();
  return { aws, server, folder, dynamoDb, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

async function startDynamoDbLocal(opened: AsyncDisposableStack): Promise<Stage['dynamoDb']> {
  const guard = opened.use(startGuard());
  const cache = process.env['CONFORMANCE_CACHE'] ?? join(homedir(), '.cache', 'platform-sync', 'conformance');
  const { signal } = new AbortController();
  const fetched = await fetchEngine(dynamoDbLocal, { cache, guard, signal });
  const { engines } = opened.use(await startEngine(dynamoDbLocal, { fetched, guard, signal }));
  const endpoint = engines.dynamoDb?.endpoint ?? '';
  await createTables(endpoint, [TABLE]);
  // DynamoDB Local has a separate database for each access key and region.
  const { accessKeyId: AWS_ACCESS_KEY_ID } = credentials;
  return { AWS_ENDPOINT_URL_DYNAMODB: endpoint, AWS_ACCESS_KEY_ID, AWS_REGION: REGION };
}

/** The cost of all jobs except the first of each process, until the last one has finished or finally failed. */
export type Took = {
  /** The number of finished jobs. */
  readonly jobs: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** The peak memory of a process. */
  readonly peakMb: number;
  /** The number of requests, by service. */
  readonly requests: Readonly<Record<string, number>>;
  /** Dollars of AWS per job, by the list prices of the requests; undefined if they were not counted. */
  readonly dollars?: number | undefined;
};

const NOTHING: Took = { jobs: 0, wallMs: 0, cpuMs: 0, peakMb: 0, requests: {} };

type Run = {
  readonly name: Contender;
  readonly records: readonly RaceRecord[];
  /** Kill the process once it has executed this number of functions or texts, before the last response arrives. */
  readonly killAfter?: number | undefined;
  /** Use short leases, so that the jobs of a killed process are taken over while the bench runs. */
  readonly killed: boolean;
  readonly nodeOptions: string;
};

type Printed = { readonly finished: readonly string[]; readonly took: Took };

/** Runs a contender in a separate process. */
async function runRecords(stage: Stage, { name, records, killAfter, killed, nodeOptions }: Run) {
  const { server } = stage;
  const contender: HandlerFiles = CONTENDERS[name];
  const file = (killed ? contender.killed : undefined) ?? contender.handler;
  const args = [file, killed ? '2000' : '600000'];
  const child = spawn(process.execPath, [...process.execArgv, 'test/bench/jobs-process.ts', ...args], {
    env: {
      ...{ PATH: process.env['PATH'], NODE_OPTIONS: nodeOptions },
      ...environmentOf(name, stage),
      ...(killed ? SOON : {}),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(records));
  if (killAfter !== undefined) void server.afterMore(killAfter).then(() => child.kill('SIGKILL'));
  const finished = new Set<string>();
  let took = NOTHING;
  for await (const line of createInterface(child.stdout)) {
    // A handler may print other lines, such as metrics, and after a kill the last line may be incomplete.
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

/** A short timeout of calls also shortens the claims of texts, which outlive their calls. */
const SOON = { PLATFORM_TIMEOUT_MS: '4000' };

/** Runs a contender that is killed this number of times, and then a last process for the remaining jobs. */
export async function runJobs(
  stage: Stage,
  name: Contender,
  {
    jobs,
    kills = 0,
    nodeOptions = '',
  }: { readonly jobs: readonly RaceJob[]; readonly kills?: number; readonly nodeOptions?: string },
): Promise<Took> {
  let unfinished = jobs.map(({ record }) => record);
  let took = NOTHING;
  const before = stage.aws.dollars();
  const pieces = jobs.flatMap(({ keys }) => keys).length;
  for (let process = 0; unfinished.length > 0 && process <= kills; process += 1) {
    const killAfter = process < kills ? Math.floor(pieces / (kills + 1)) : undefined;
    const run = await runRecords(stage, {
      name,
      records: unfinished,
      killAfter,
      killed: kills > 0,
      nodeOptions,
    });
    took = added(took, run.took);
    unfinished = unfinished.filter(({ messageId }) => !run.finished.has(messageId)).map(redelivered);
    // The contender has given up the remaining jobs.
    if (!run.isKilled) break;
  }
  const dollars = (stage.aws.dollars() - before) / jobs.length;
  return { ...took, dollars: name === 'dynamodb-local' ? undefined : dollars };
}

function added(a: Took, b: Took): Took {
  const requests: Record<string, number> = { ...a.requests };
  for (const [name, count] of Object.entries(b.requests)) requests[name] = (requests[name] ?? 0) + count;
  const peakMb = Math.max(a.peakMb, b.peakMb);
  return {
    ...{ jobs: a.jobs + b.jobs, wallMs: a.wallMs + b.wallMs, cpuMs: a.cpuMs + b.cpuMs },
    ...{ peakMb, requests },
  };
}

export type Outcome = {
  /** The number of repeated executions of functions and texts. */
  readonly doubles: number;
  /** Jobs without a result, or whose result silently lacks something that the platform returned. */
  readonly lost: number;
  readonly unknown: number;
  /** Jobs reported as unknown although nothing ran. */
  readonly neverRan: number;
  readonly failed: number;
};

/** The outcome of jobs, from their results and from the platform's executions. */
export function outcomeOf(stage: Stage, name: Contender, jobs: readonly RaceJob[]): Outcome {
  const results = resultsOf(stage, name);
  const outcome = { doubles: 0, done: 0, lost: 0, unknown: 0, neverRan: 0, failed: 0 };
  for (const { record, keys } of jobs) {
    const runs = keys.map((key) => stage.server.executions(key));
    outcome.doubles += runs.reduce((all, each) => all + Math.max(0, each - 1), 0);
    const kind = kindOf(results.get(record.messageId), keys.length);
    outcome[kind] += 1;
    if (kind === 'unknown' && runs.every((each) => each === 0)) outcome.neverRan += 1;
  }
  return outcome;
}

/** The results, by the ids of jobs. */
function resultsOf({ aws, folder }: Stage, name: Contender): ReadonlyMap<string, string> {
  const bodies =
    name === 'sqlite'
      ? globSync(join(folder, 'results/**/*.json')).map((file) => [file, readFileSync(file)] as const)
      : [...aws.objects].filter(([key]) => key.startsWith(`${BUCKET}/${name}/results/`));
  return new Map(bodies.map(([key, body]) => [basename(key, '.json'), body.toString()]));
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
const TABLE = 'ours';

const environmentOf = (name: Contender, { aws, server, folder, dynamoDb }: Stage) => ({
  ...aws.settings,
  ...(name === 'dynamodb-local' ? dynamoDb : {}),
  PLATFORM_BASE_URL: server.url,
  PLATFORM_TOKEN: 'token',
  PLATFORM_RATE: '5000',
  PLATFORM_CONCURRENCY: '10',
  ...(name === 'sqlite'
    ? { SYNC_STORE: folder, SYNC_TABLE: `sqlite:${join(folder, '.store', 'jobs.db')}` }
    : { SYNC_STORE: `s3://${BUCKET}/${name}`, SYNC_TABLE: TABLE }),
  SYNC_QUEUE_URL: `${aws.endpoint}/000000000000/jobs`,
  LOG_LEVEL: 'error',
  BENCH_BUCKET: BUCKET,
  BENCH_PREFIX: `${name}/`,
  BENCH_TABLE: 'powertools',
});

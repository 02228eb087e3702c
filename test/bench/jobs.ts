import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { openStore } from '../../lib/store/open.ts';
import { startTestAws, type TestAws } from '../aws/start-test-aws.ts';
import { type Bench, bounded, type Row } from './bench.ts';
import { type FunctionServer, startFunctionServer } from './function-server.ts';
import { median } from './measured-process.ts';

/** `JOBS=2000 npm run bench -- jobs` measures another number. */
const JOBS = Number(process.env['JOBS'] ?? 1_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const KILLS = Number(process.env['KILLS'] ?? 5);
const FAULTY_JOBS = Math.min(JOBS, 300);

const MOST_RATIO = 1.2;
const MOST_REQUESTS = 5;

const CONTENDERS = {
  ours: { handler: '../../functions/run-jobs/handler.ts', killed: './contenders/renewed-handler.ts' },
  Powertools: {
    handler: './contenders/powertools-handler.js',
    killed: './contenders/powertools-handler.js',
  },
} as const;

type Contender = keyof typeof CONTENDERS;
const names = Object.keys(CONTENDERS) as readonly Contender[];

/**
 * Code functions through the deployed handler, in batches of ten, beside a handler on Powertools' batch and idempotency:
 * what a job costs, and what happens to jobs when responses are lost and processes are killed.
 */
export const jobs: Bench = {
  name: 'jobs',
  async run() {
    await using functions = await startFunctionServer();
    await using aws = await startTestAws({ buckets: ['jobs'], tables: ['ours', 'powertools'], off: OFF });
    const stage = { aws, functions };
    return [...(await costs(stage)), ...(await underLostResponses(stage)), ...(await underKills(stage))];
  },
};

const REASON = 'measures what a job costs while nothing fails';
const OFF = {
  's3-refuses': REASON,
  's3-loses-responses': REASON,
  's3-writes-conflict': REASON,
  'dynamodb-refuses': REASON,
  'dynamodb-loses-responses': REASON,
};

type Stage = { readonly aws: TestAws; readonly functions: FunctionServer };

type Took = {
  readonly jobs: number;
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly requests: Readonly<Record<string, number>>;
};

async function costs(stage: Stage): Promise<readonly Row[]> {
  const took: Record<Contender, Took[]> = { ours: [], Powertools: [] };
  // In turns, since the machine may be busy with something else for a while.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of names) {
      const run = await runJobs(stage, { name, prefix: `cost-${round}`, count: JOBS });
      if (run.took !== undefined) took[name].push(run.took);
    }
  }
  const cpu = median(
    took.ours.map((ours, round) => perJob(ours.cpuMs, ours) / cpuOf(took.Powertools[round])),
  );
  const wall = median(
    took.ours.map((ours, round) => perJob(ours.wallMs, ours) / wallOf(took.Powertools[round])),
  );
  const requests = requestsOf(took.ours[0]);
  return [
    ...names.map((name) => ({ measured: `${JOBS} functions, ${name}`, value: describe(took[name]) })),
    bounded(
      'requests to AWS a job',
      requests.toFixed(2),
      `at most ${MOST_REQUESTS}`,
      requests <= MOST_REQUESTS,
    ),
    bounded('CPU, ours / Powertools', cpu.toFixed(2), `at most ${MOST_RATIO}`, cpu <= MOST_RATIO),
    bounded('wall, ours / Powertools', wall.toFixed(2), `at most ${MOST_RATIO}`, wall <= MOST_RATIO),
  ];
}

const perJob = (value: number, { jobs: count }: Took) => value / count;
const cpuOf = (took: Took | undefined) => (took === undefined ? Number.NaN : perJob(took.cpuMs, took));
const wallOf = (took: Took | undefined) => (took === undefined ? Number.NaN : perJob(took.wallMs, took));

/** Requests to AWS a job. */
const requestsOf = (took: Took | undefined): number =>
  took === undefined ? Number.NaN : perJob(sum(awsRequests(took).map(([, count]) => count)), took);

const awsRequests = ({ requests }: Took) => Object.entries(requests).filter(([name]) => name !== 'platform');
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

function describe(took: readonly Took[]): string {
  const [first] = took;
  if (first === undefined) return 'nothing';
  const requests = awsRequests(first).map(([name, count]) => `${name} ${perJob(count, first).toFixed(2)}`);
  const [cpuMs, wallMs] = [median(took.map(cpuOf)), median(took.map(wallOf))];
  return `CPU ${cpuMs.toFixed(2)} ms, wall ${wallMs.toFixed(2)} ms a job; ${requests.join(', ')}`;
}

async function underLostResponses(stage: Stage): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const name of names) {
    const prefix = 'lossy';
    stage.functions.loseEvery(10);
    await runJobs(stage, { name, prefix, count: FAULTY_JOBS });
    stage.functions.loseEvery(0);
    rows.push(await outcomeRow(stage, { name, prefix, what: 'each tenth response lost' }));
  }
  return rows;
}

async function underKills(stage: Stage): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const name of names) {
    const prefix = 'killed';
    let left = recordsOf(name, prefix, FAULTY_JOBS);
    for (let kill = 1; left.length > 0; kill += 1) {
      const killAfter = kill <= KILLS ? Math.floor(FAULTY_JOBS / (KILLS + 1)) : undefined;
      const { finished } = await runRecords(stage, { name, records: left, killAfter, killed: true });
      left = left.filter(({ messageId }) => !finished.has(messageId)).map(received);
      if (kill > KILLS + 3) break;
    }
    rows.push(await outcomeRow(stage, { name, prefix, what: `${KILLS} times kill -9` }));
  }
  return rows;
}

const received = (record: BenchRecord): BenchRecord => ({
  ...record,
  attributes: { ...record.attributes, ApproximateReceiveCount: '2' },
});

type Asked = { readonly name: Contender; readonly prefix: string };

/** What became of the jobs: only what ran twice, or is in no result, is bad; what is unknown is said to be. */
async function outcomeRow(
  { aws, functions }: Stage,
  { name, prefix, what }: Asked & { readonly what: string },
): Promise<Row> {
  const store = await openStore(`s3://${aws.bucket('jobs')}/${name}`, { s3: aws.settings });
  const ids = recordsOf(name, prefix, FAULTY_JOBS).map(({ messageId }) => messageId);
  const doubles = ids.filter((id) => functions.executions(id) > 1).length;
  const results = new Map<string, string>();
  for await (const { key } of store.list('results/')) {
    const id = /([^/]+)\.json$/.exec(key)?.[1] ?? '';
    if (ids.includes(id)) results.set(id, (await store.get(key))?.body.toString() ?? '');
  }
  const lost = ids.length - results.size;
  const unknown = [...results.values()].filter((body) => body.includes('"status":"unknown"')).length;
  const value = `${doubles} ran twice, ${lost} without a result, ${unknown} reported as unknown`;
  const measured = `${FAULTY_JOBS} functions, ${what}, ${name}`;
  return name === 'ours'
    ? bounded(measured, value, '0 twice, 0 without', doubles + lost === 0)
    : { measured, value };
}

type Run = Asked & { readonly count: number };

const runJobs = (stage: Stage, { name, prefix, count }: Run) =>
  runRecords(stage, { name, records: recordsOf(name, prefix, count), killed: false });

type Records = {
  readonly name: Contender;
  readonly records: readonly BenchRecord[];
  /** Kill the process when so many messages are finished. */
  readonly killAfter?: number | undefined;
  readonly killed: boolean;
};

async function runRecords({ aws, functions }: Stage, { name, records, killAfter, killed }: Records) {
  const contender = CONTENDERS[name];
  const args = [killed ? contender.killed : contender.handler, killed ? '2000' : '600000'];
  const child = spawn(process.execPath, [...process.execArgv, 'test/bench/jobs-process.ts', ...args], {
    env: { PATH: process.env['PATH'], ...environmentOf(name, aws, functions) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify(records));
  const finished = new Set<string>();
  let took: Took | undefined;
  for await (const line of createInterface(child.stdout)) {
    if (!line.startsWith('{"finished"') && !line.startsWith('{"jobs"')) continue;
    const printed = JSON.parse(line) as Took | { readonly finished: readonly string[] };
    if ('finished' in printed) for (const messageId of printed.finished) finished.add(messageId);
    else took = printed;
    if (killAfter === undefined || finished.size < killAfter) continue;
    // In the middle of the next batch, when functions have run whose responses have not arrived.
    void functions.nextExecution().then(() => child.kill('SIGKILL'));
  }
  const [code, signal] = await ended;
  const isKilled = killAfter !== undefined && signal === 'SIGKILL';
  if (code !== 0 && !isKilled) throw new Error(`${name}: ended with ${code ?? signal}`);
  return { finished, took };
}

const environmentOf = (name: Contender, aws: TestAws, { url }: FunctionServer) => ({
  ...aws.settings,
  PLATFORM_BASE_URL: url,
  PLATFORM_TOKEN: 'token',
  PLATFORM_RATE: '5000',
  PLATFORM_CONCURRENCY: '10',
  SYNC_STORE: `s3://${aws.bucket('jobs')}/${name}`,
  SYNC_TABLE: 'ours',
  SYNC_QUEUE_URL: `${aws.endpoint}/000000000000/jobs`,
  LOG_LEVEL: 'error',
  BENCH_BUCKET: aws.bucket('jobs'),
  BENCH_PREFIX: `${name}/`,
  BENCH_TABLE: 'powertools',
});

type BenchRecord = ReturnType<typeof recordOf>;

const recordsOf = (name: Contender, prefix: string, count: number): readonly BenchRecord[] =>
  Array.from({ length: count }, (_, index) => recordOf(`${name}-${prefix}-${index}`));

const recordOf = (id: string) => ({
  messageId: id,
  receiptHandle: `receipt of ${id}`,
  body: JSON.stringify({
    version: 1,
    id,
    type: 'run-function',
    packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
    packageVersion: '1.0.0',
    functionName: 'addNumbers',
    inputVariables: { job: id, first: 1, second: 2 },
  }),
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '1795251600000',
    SenderId: 'AIDAEXAMPLE',
    ApproximateFirstReceiveTimestamp: '1795251600000',
  },
  messageAttributes: {},
  md5OfBody: '',
  eventSource: 'aws:sqs',
  eventSourceARN: 'arn:aws:sqs:eu-central-1:000000000000:jobs',
  awsRegion: 'eu-central-1',
});

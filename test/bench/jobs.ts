import { atMost, type Bench, bounded, type Row } from './bench.ts';
import { piecesInJob, raceJobs, type Work } from './jobs-records.ts';
import {
  type Contender,
  contenders,
  isOurs,
  type Outcome,
  openStage,
  outcomeOf,
  runJobs,
  type Stage,
  type Took,
} from './jobs-run.ts';
import { median } from './measured-process.ts';
import type { ServerFaults } from './race-server.ts';

/**
 * `JOBS=200 TEXTS=1000 ROUNDS=1 npm run bench -- jobs` takes minutes instead of an hour. `CONTENDERS=ours,careful`
 * limits the race to these contenders.
 */
const SIZES: Readonly<Record<Work, number>> = {
  functions: Number(process.env['JOBS'] ?? 2_000),
  texts: Number(process.env['TEXTS'] ?? 100_000),
};
/** The number of races without faults. */
const ROUNDS: Readonly<Record<Work, number>> = { functions: Number(process.env['ROUNDS'] ?? 3), texts: 1 };

/** Maximum ratios: CPU and wall time of a function ÷ the recommended handler's, and CPU time of a text ÷ the careful one's. */
const MAX_RATIO = { CPU: 1, wall: 1.1, text: 1.3 } as const;
/** Maximum requests to AWS per function or text. */
const MAX_REQUESTS: Readonly<Record<Work, number>> = { functions: 3, texts: 2.8 };

type Weather = { readonly what: string; readonly kills?: number; readonly faults?: Partial<ServerFaults> };

/** Distance of bursts of 429s, which is long since one 429 fails all ten jobs of a batch in a handler that does not wait. */
const APART: Readonly<Record<Work, number>> = { functions: 100, texts: 2_000 };
const MAX_BURSTS = 20;

/** Bursts of 429s at even distances. */
function burstsIn(work: Work): Weather {
  const size = SIZES[work];
  const maxBursts = Math.min(MAX_BURSTS, Math.ceil(size / APART[work]));
  const faults = { burstEvery: Math.ceil(size / (maxBursts + 1)), maxBursts };
  return { what: maxBursts === 1 ? 'a burst of 429' : `${maxBursts} bursts of 429`, faults };
}

/** One job of 100 texts in five loses a response. If it were each one, a handler that repeats the whole job would never end. */
const weathers: Readonly<Record<Work, readonly Weather[]>> = {
  functions: [
    { what: 'each tenth response lost', faults: { loseEvery: 10 } },
    burstsIn('functions'),
    { what: '5 times kill -9', kills: 5 },
  ],
  texts: [
    { what: 'each 500th response lost', faults: { loseEvery: 500 } },
    burstsIn('texts'),
    { what: '5 times kill -9', kills: 5 },
  ],
};

/**
 * Runs functions and texts in batches of ten through the deployed handler, through the same worker on a folder without
 * AWS, and through three handlers based on Powertools' batch and idempotency: as its documentation recommends for a
 * batch, around each call, and a careful one. Measures the cost of one function or text, and what happens to jobs when
 * responses are lost, the platform throttles and processes are killed.
 */
export const jobs: Bench = {
  name: 'jobs',
  about:
    "The same messages for this worker, on a table in memory (`ours`), on DynamoDB Local and on SQLite in a folder alone, and for three handlers on Powertools' batch and idempotency: the record idempotent, as its documentation recommends (`recommended`), each call (`per-call`), and a careful one. What a function or a text takes without faults, with 50 ms a response, and in a function of 1,024 MB; and what happens when responses are lost, the platform refuses and processes are killed. Dollars are the requests of AWS by list prices, those of killed processes too, without the queue's. The recommended handlers run twice whatever they did not hear of; the careful one loses the jobs of a killed process, and has no rate of the fleet, no cancel and no staged outcome. Unknown jobs are those whose response nobody heard: a person decides. What ours costs more is its ledger: a row a job, and a claim of each text that is paid for.",
  async *run() {
    if (!contenders.includes('dynamodb-local'))
      console.log('not raced: ours on DynamoDB Local, which needs Java: CONTENDERS=dynamodb-local');
    await using stage = await openStage();
    for (const work of ['functions', 'texts'] as const) {
      yield* costs(stage, work);
      for (const weather of weathers[work])
        for (const name of contenders) yield race(stage, work, weather, name);
    }
  },
};

async function* costs(stage: Stage, work: Work): AsyncGenerator<Row> {
  const turns = { count: SIZES[work], rounds: ROUNDS[work], names: contenders };
  const { took, outcomes } = await takeTurns(stage, work, turns);
  for (const name of contenders)
    yield rowOf(work, 'no faults', name, { took: took[name], outcome: outcomes.get(name) });
  if (contenders.includes('ours')) yield* bounds(work, took);
  if (work === 'functions' && FAR.every((name) => contenders.includes(name))) yield await farAway(stage);
  if (work === 'functions' && contenders.includes('ours')) yield await largeOutputs(stage);
}

/** The latency of each response of AWS and the platform, in milliseconds, and the number of functions that are enough then. */
const FAR_MS = 50;
const FAR_COUNT = 200;
const FAR = ['ours', 'recommended'] as const;

async function farAway(stage: Stage): Promise<Row> {
  for (const server of [stage.aws, stage.server]) server.setLatency(FAR_MS);
  const turns = { count: FAR_COUNT, rounds: ROUNDS.functions, names: FAR };
  const { took } = await takeTurns(stage, 'functions', { ...turns, prefix: 'far-' });
  for (const server of [stage.aws, stage.server]) server.setLatency(0);
  const measured = `wall at ${FAR_MS} ms a response, functions, ours ÷ recommended`;
  return atMost(measured, ratio('functions', took, 'recommended', wallOf), MAX_RATIO.wall);
}

/** Results as large as the limits allow, and the memory limits of a Lambda function of 1,024 MB. */
const LARGE_BYTES = 95_000_000;
const OF_1024_MB = '--max-old-space-size=921 --max-semi-space-size=51';
const MAX_LARGE_MB = 700;

async function largeOutputs(stage: Stage): Promise<Row> {
  stage.server.setLarge(LARGE_BYTES);
  const given = raceJobs('functions', 'large', 10);
  const { peakMb } = await runJobs(stage, 'ours', { jobs: given, nodeOptions: OF_1024_MB });
  stage.server.setLarge(0);
  const { lost, unknown, failed } = outcomeOf(stage, 'ours', given);
  return bounded(
    'ten functions in 1,024 MB, each second with an output of 95 MB: most memory',
    `${Math.round(peakMb)} MB`,
    `at most ${MAX_LARGE_MB} MB`,
    peakMb <= MAX_LARGE_MB && lost + unknown + failed === 0,
  );
}

type AllTook = Readonly<Record<Contender, readonly Took[]>>;

type Turns = {
  readonly count: number;
  readonly rounds: number;
  readonly names: readonly Contender[];
  /** The prefix of the names of jobs. */
  readonly prefix?: string;
};

/** Runs contenders without faults in turns, so that other load of the machine affects all of them. */
async function takeTurns(stage: Stage, work: Work, { count, rounds, names, prefix = '' }: Turns) {
  const took = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Contender, Took[]>;
  const outcomes = new Map<Contender, Outcome>();
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) {
      const given = raceJobs(work, `${prefix}${name}-${work}-${round}`, count);
      took[name].push(await runJobs(stage, name, { jobs: given }));
      outcomes.set(name, outcomeOf(stage, name, given));
    }
  return { took, outcomes };
}

/** The contenders that the bounds compare. */
const RIVALS = ['ours', 'recommended', 'careful'] as const;

/** Ratios on small work, for CI: the CPU time of a function ÷ the recommended handler's, and of a text ÷ the careful one's. */
export async function jobRatios(): Promise<readonly [functions: number, texts: number]> {
  await using stage = await openStage();
  const functions = await takeTurns(stage, 'functions', { count: 400, rounds: 3, names: RIVALS });
  const texts = await takeTurns(stage, 'texts', { count: 2_000, rounds: 3, names: RIVALS });
  return [
    ratio('functions', functions.took, 'recommended', cpuOf),
    ratio('texts', texts.took, 'careful', cpuOf),
  ];
}

function* bounds(work: Work, took: AllTook): Generator<Row> {
  const requests = median(
    took.ours.map(perPiece(work, ({ requests: { platform: _, ...toAws } }) => sum(Object.values(toAws)))),
  );
  yield atMost(`requests to AWS, ${work}, ours`, requests, MAX_REQUESTS[work]);
  if (!RIVALS.every((name) => contenders.includes(name))) return;
  if (work === 'texts')
    return yield atMost('CPU, texts, ours ÷ careful', ratio(work, took, 'careful', cpuOf), MAX_RATIO.text);
  yield atMost('CPU, functions, ours ÷ recommended', ratio(work, took, 'recommended', cpuOf), MAX_RATIO.CPU);
  const wall = ratio(work, took, 'recommended', wallOf);
  yield atMost('wall, functions, ours ÷ recommended', wall, MAX_RATIO.wall);
}

const cpuOf = ({ cpuMs }: Took): number => cpuMs;
const wallOf = ({ wallMs }: Took): number => wallMs;

/** The median ratio of our value to the rival's of the same round. */
function ratio(work: Work, took: AllTook, rival: Contender, value: (took: Took) => number): number {
  const each = perPiece(work, value);
  return median(took.ours.map((ours, round) => each(ours) / each(took[rival][round] ?? ours)));
}

async function race(stage: Stage, work: Work, weather: Weather, name: Contender): Promise<Row> {
  const { what, kills = 0, faults = {} } = weather;
  const given = raceJobs(work, `${name}-${work}-${what.replaceAll(' ', '-')}`, SIZES[work]);
  stage.server.setFaults(faults);
  const took = await runJobs(stage, name, { jobs: given, kills });
  stage.server.setFaults({});
  return rowOf(work, what, name, { took: [took], outcome: outcomeOf(stage, name, given) });
}

type Ran = { readonly took: readonly Took[]; readonly outcome: Outcome | undefined };

/** A row of the table. Our worker may score a text again if its response was lost, since no other way has the score. */
function rowOf(work: Work, what: string, name: Contender, { took, outcome }: Ran): Row {
  const measured = `${SIZES[work].toLocaleString('en')} ${work}, ${what}: ${name}`;
  if (outcome === undefined) return { measured, value: 'nothing' };
  const { doubles, lost, unknown, neverRan, failed } = outcome;
  const value = `${costOf(work, took)}; ${doubles} doubles, ${lost} jobs lost, ${unknown} unknown (${neverRan} never ran), ${failed} failed`;
  if (!isOurs(name)) return { measured, value };
  const isFine = lost + failed === 0 && (work === 'texts' || doubles === 0);
  return bounded(
    measured,
    value,
    work === 'texts' ? 'none lost or failed' : 'no double, none lost or failed',
    isFine,
  );
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

const perPiece =
  (work: Work, value: (took: Took) => number) =>
  (took: Took): number =>
    value(took) / (took.jobs * piecesInJob[work]);

function costOf(work: Work, took: readonly Took[]): string {
  const each = (value: (took: Took) => number) => median(took.map(perPiece(work, value)));
  const services = [...new Set(took.flatMap(({ requests }) => Object.keys(requests)))].toSorted();
  const requests = services.map(
    (service) => `${service} ${each(({ requests: { [service]: count = 0 } }) => count).toFixed(2)}`,
  );
  const [cpuMs, wallMs] = [each((of) => of.cpuMs), each((of) => of.wallMs)];
  const dollars = (median(took.flatMap((of) => of.dollars ?? [])) / piecesInJob[work]) * 1e6;
  const cost = Number.isNaN(dollars) ? '' : `, $${dollars.toFixed(2)} a million`;
  return `${requests.join(', ')}${cost}; CPU ${cpuMs.toFixed(2)} ms, wall ${wallMs.toFixed(2)} ms`;
}

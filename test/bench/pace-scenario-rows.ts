import { spawn } from 'node:child_process';
import { sleep } from '../../lib/base/async.ts';
import { startLoopbackServer } from '../local-aws/services/loopback-server.ts';
import { bounded, percent, type Row } from './bench.ts';
import { type Child, startWorker, type WorkerStart } from './pace-fleet.ts';
import { type PaceScenario, type Span, scenarios } from './pace-scenarios.ts';
import { startLocalAwsProcess } from './sandbox-process.ts';

const CONCURRENCY = 8;

/** One row for each scenario that `PACE_SCENARIO` picks; by default, for all. */
export async function scenarioRows(): Promise<readonly Row[]> {
  const picked = process.env['PACE_SCENARIO'] ?? '';
  const rows: Row[] = [];
  for (const scenario of scenarios.filter(({ name }) => name.includes(picked)))
    rows.push(await rowOf(scenario));
  return rows;
}

async function rowOf(scenario: PaceScenario): Promise<Row> {
  const { name, rate, workers, seconds, minUsed = 0.95 } = scenario;
  const { arrivals, writes, granted, wasted } = await runScenario(scenario);
  const accepted = arrivals.filter(({ refused }) => !refused);
  const down = downOf(scenario);
  const backAfter = down === undefined ? undefined : secondsUntilHalf(accepted, rate, down.untilMs);
  const closed = closedOf(scenario, backAfter);
  const open = accepted.filter(({ atMs }) => !isIn(atMs, closed));
  const openSeconds = seconds - (closed.untilMs - closed.fromMs) / 1000;
  const used = open.length / (rate * openSeconds);
  const max = maxInASecond(arrivals);
  const value = [
    `${percent(used)} used`,
    `${max} in a second`,
    `${Math.ceil(rate) + 1} within ${minSpanMs(arrivals, Math.ceil(rate) + 1)} ms`,
    `${percent(wasted / granted)} of the slots wasted`,
    `${arrivals.length - accepted.length} times 429`,
    `${(writes / arrivals.length).toFixed(2)} writes a call`,
    ...(down === undefined ? [] : [`half of the rate after ${backAfter?.toFixed(1) ?? 'more'} s`]),
  ];
  return bounded(
    `${name} (${rate}/s, ${workers} workers, ${seconds} s)`,
    value.join('; '),
    `at least ${percent(minUsed)} where nothing is down; at most ${Math.ceil(rate)}${down === undefined ? '' : '; 60 s'}`,
    used >= minUsed && max <= Math.ceil(rate) && (down === undefined || (backAfter ?? 61) <= 60),
  );
}

const downOf = ({ refuses, faults }: PaceScenario): Span | undefined => refuses ?? faults?.tableUnavailable;

/**
 * The time in which the rate cannot be used: until the first call has recorded SENT, and from the beginning of an
 * outage until half of the rate is used again, which has a separate bound.
 */
function closedOf(scenario: PaceScenario, backAfter: number | undefined): Span {
  const down = downOf(scenario);
  if (down === undefined) return { fromMs: 0, untilMs: scenario.faults?.sentMs ?? 0 };
  return { fromMs: down.fromMs, untilMs: down.untilMs + (backAfter ?? 0) * 1000 };
}

const isIn = (atMs: number, { fromMs, untilMs }: Span): boolean => atMs >= fromMs && atMs < untilMs;

async function runScenario(scenario: PaceScenario) {
  const { rate, workers, seconds, refuses, faults, skewsMs = [0], burners = 0 } = scenario;
  await using aws = await startLocalAwsProcess();
  await using platform = await startStandIn(refuses);
  const settings = { ...aws.settings, PLATFORM_BASE_URL: platform.url, PLATFORM_TOKEN: 'any' };
  const plan = { kind: 'busy', rate, workers, concurrency: CONCURRENCY, loops: CONCURRENCY } as const;
  const children: Child[] = [];
  try {
    const started = Array.from({ length: workers }, (_, at) =>
      startWorker({ ...plan, settings, faults: { ...faults, skewMs: skewsMs[at % skewsMs.length] ?? 0 } }),
    );
    children.push(...(await Promise.all(started)));
    using _busy = keepCoresBusy(burners);
    const startAtMs = Date.now() + 500;
    const endAtMs = startAtMs + seconds * 1000;
    platform.startAt(startAtMs);
    for (const child of children) child.process.send({ startAtMs, endAtMs } satisfies WorkerStart);
    await sleep(endAtMs - Date.now());
    await Promise.all(children.map(({ ended }) => ended));
    const arrivals = platform.arrivals().filter(({ atMs }) => atMs >= 0 && atMs < seconds * 1000);
    const sum = (name: 'writes' | 'granted' | 'wasted') =>
      children.reduce((all, { last }) => all + (last?.[name] ?? 0), 0);
    return { arrivals, writes: sum('writes'), granted: sum('granted'), wasted: sum('wasted') };
  } finally {
    for (const { process } of children) process.kill('SIGKILL');
  }
}

/** Starts processes that compute until they are disposed of. */
function keepCoresBusy(burners: number): Disposable {
  const processes = Array.from({ length: burners }, () =>
    spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }),
  );
  return {
    [Symbol.dispose]() {
      for (const burner of processes) burner.kill('SIGKILL');
    },
  };
}

function maxInASecond(arrivals: readonly Arrival[]): number {
  let [first, max] = [0, 0];
  for (const [last, { atMs }] of arrivals.entries()) {
    while ((arrivals[first]?.atMs ?? atMs) <= atMs - 1000) first += 1;
    max = Math.max(max, last - first + 1);
  }
  return max;
}

/** The shortest time in which `count` requests arrived. If it is above one second, the rate was not exceeded. */
function minSpanMs(arrivals: readonly Arrival[], count: number): number {
  const spans = arrivals.slice(count - 1).map(({ atMs }, first) => atMs - (arrivals[first]?.atMs ?? 0));
  return Math.min(...spans);
}

const WINDOW_MS = 5_000;

/** Seconds from `backMs` to the beginning of the first five seconds in which half of the rate is used. */
function secondsUntilHalf(accepted: readonly Arrival[], rate: number, backMs: number): number | undefined {
  for (let fromMs = backMs; fromMs < backMs + 70_000; fromMs += 100) {
    const used = accepted.filter(({ atMs }) => isIn(atMs, { fromMs, untilMs: fromMs + WINDOW_MS })).length;
    if (used >= (rate * WINDOW_MS) / 2000) return (fromMs - backMs) / 1000;
  }
  return undefined;
}

/** A request, in milliseconds after the start. */
type Arrival = { readonly atMs: number; readonly refused: boolean };

/** Starts a platform that only records when requests arrive, and responds to each with an empty page. */
async function startStandIn(refuses: PaceScenario['refuses']) {
  const arrivals: Arrival[] = [];
  let startAtMs = Number.POSITIVE_INFINITY;
  const server = await startLoopbackServer((request, response) => {
    const atMs = Date.now() - startAtMs;
    const refused = refuses !== undefined && atMs >= refuses.fromMs && atMs < refuses.untilMs;
    arrivals.push({ atMs, refused });
    request.resume();
    if (refused) response.setHeader('retry-after', String(refuses.retryAfterSeconds));
    response.writeHead(refused ? 429 : 200, { 'content-type': 'application/json' });
    response.end(refused ? '{"message":"Too many requests"}' : '{"results":[]}');
  });
  return {
    url: server.endpoint,
    startAt(atMs: number) {
      startAtMs = atMs;
    },
    arrivals: (): readonly Arrival[] => arrivals,
    [Symbol.asyncDispose]: server.close,
  };
}

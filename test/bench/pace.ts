import { spawn } from 'node:child_process';
import { sleep } from '../../lib/base/time/sleep.ts';
import { startLoopbackServer } from '../local-aws/services/loopback-server.ts';
import { type Bench, bounded, percent, type Row } from './bench.ts';
import { type Child, startWorker, type WorkerPlan, type WorkerStart } from './pace-fleet.ts';
import { type PaceScenario, type Span, scenarios } from './pace-scenarios.ts';
import { startLocalAwsProcess } from './sandbox-process.ts';

const CONCURRENCY = 8;

/** How much of the rate a fleet of processes uses, and never more, whatever happens to it. */
export const pace: Bench = {
  name: 'pace',
  async *run() {
    const picked = process.env['PACE_SCENARIO'] ?? '';
    for (const scenario of scenarios.filter(({ name }) => name.includes(picked))) yield await rowOf(scenario);
  },
};

async function rowOf(scenario: PaceScenario): Promise<Row> {
  const { name, rate, workers, seconds, leastUsed = 0.95 } = scenario;
  const { arrivals, writes, reads, granted, wasted } = await runScenario(scenario);
  const accepted = arrivals.filter(({ refused }) => !refused);
  const down = downOf(scenario);
  const backAfter = down === undefined ? undefined : secondsUntilHalf(accepted, rate, down.untilMs);
  const closed = closedOf(scenario, backAfter);
  const open = accepted.filter(({ atMs }) => !isIn(atMs, closed));
  const openSeconds = seconds - (closed.untilMs - closed.fromMs) / 1000;
  const used = open.length / (rate * openSeconds);
  const most = mostInASecond(arrivals);
  const value = [
    `${percent(used)} used`,
    `${most} in a second`,
    `${Math.ceil(rate) + 1} within ${shortestSpanMs(arrivals, Math.ceil(rate) + 1)} ms`,
    `${percent(wasted / granted)} of the slots wasted`,
    `${arrivals.length - accepted.length} times 429`,
    `${(writes / arrivals.length).toFixed(2)} writes and ${(reads / arrivals.length).toFixed(2)} reads a call`,
    ...(down === undefined ? [] : [`half of the rate after ${backAfter?.toFixed(1) ?? 'more'} s`]),
  ];
  return bounded(
    `${name} (${rate}/s, ${workers} workers, ${seconds} s)`,
    value.join('; '),
    `at least ${percent(leastUsed)} where nothing is down; at most ${Math.ceil(rate)}${down === undefined ? '' : '; 60 s'}`,
    used >= leastUsed && most <= Math.ceil(rate) && (down === undefined || (backAfter ?? 61) <= 60),
  );
}

const downOf = ({ refuses, faults }: PaceScenario): Span | undefined => refuses ?? faults?.tableAway;

/**
 * When the rate cannot be used: until the first call has recorded that it leaves, and while something is down, up to
 * the time by which half of the rate is back, which has a bound of its own.
 */
function closedOf(scenario: PaceScenario, backAfter: number | undefined): Span {
  const down = downOf(scenario);
  if (down === undefined) return { fromMs: 0, untilMs: scenario.faults?.sentMs ?? 0 };
  return { fromMs: down.fromMs, untilMs: down.untilMs + (backAfter ?? 0) * 1000 };
}

const isIn = (atMs: number, { fromMs, untilMs }: Span): boolean => atMs >= fromMs && atMs < untilMs;

async function runScenario(scenario: PaceScenario) {
  const {
    rate,
    workers,
    seconds,
    refuses,
    faults,
    skewsMs = [0],
    burners = 0,
    idle = 0,
    dying = 0,
  } = scenario;
  await using aws = await startLocalAwsProcess();
  await using platform = await startStandIn(refuses);
  const settings = { ...aws.settings, PLATFORM_BASE_URL: platform.url, PLATFORM_TOKEN: 'any' };
  const children: Child[] = [];
  const start = async (kind: WorkerPlan['kind'], at = 0) => {
    const skewMs = skewsMs[at % skewsMs.length] ?? 0;
    const plan = { kind, rate, concurrency: CONCURRENCY, settings, faults: { ...faults, skewMs } };
    const child = await startWorker(plan);
    children.push(child);
    return child;
  };
  try {
    const started = await Promise.all(
      Array.from({ length: workers }, (_, at) => start(at < idle ? 'idle' : 'busy', at)),
    );
    using _busy = keepCoresBusy(burners);
    const startAtMs = Date.now() + 500;
    const endAtMs = startAtMs + seconds * 1000;
    platform.startAt(startAtMs);
    for (const child of children) child.process.send({ startAtMs, endAtMs } satisfies WorkerStart);
    // One after another is killed, and replaced.
    const deaths = started.slice(idle, idle + dying).map(async (doomed, at) => {
      await sleep(startAtMs + ((at + 1) * seconds * 1000) / (dying + 1) - Date.now());
      doomed.process.kill('SIGKILL');
      const next = await start('busy');
      next.process.send({ startAtMs: Date.now(), endAtMs } satisfies WorkerStart);
    });
    await Promise.all(deaths);
    await sleep(endAtMs - Date.now());
    await Promise.all(children.map(({ ended }) => ended));
    const arrivals = platform.arrivals().filter(({ atMs }) => atMs >= 0 && atMs < seconds * 1000);
    const sum = (name: 'writes' | 'reads' | 'granted' | 'wasted') =>
      children.reduce((all, { last }) => all + (last?.[name] ?? 0), 0);
    const [writes, reads] = [sum('writes'), sum('reads')];
    return { arrivals, writes, reads, granted: sum('granted'), wasted: sum('wasted') };
  } finally {
    for (const { process } of children) process.kill('SIGKILL');
  }
}

/** Processes that compute until they are disposed of. */
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

function mostInASecond(arrivals: readonly Arrival[]): number {
  let [first, most] = [0, 0];
  for (const [last, { atMs }] of arrivals.entries()) {
    while ((arrivals[first]?.atMs ?? atMs) <= atMs - 1000) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** The shortest time that held so many arrivals; above a second, the rate was kept. */
function shortestSpanMs(arrivals: readonly Arrival[], count: number): number {
  const spans = arrivals.slice(count - 1).map(({ atMs }, first) => atMs - (arrivals[first]?.atMs ?? 0));
  return Math.min(...spans);
}

const WINDOW_MS = 5_000;

/** How long after `backMs` the first five seconds begin in which half of the rate is used. */
function secondsUntilHalf(accepted: readonly Arrival[], rate: number, backMs: number): number | undefined {
  for (let fromMs = backMs; fromMs < backMs + 70_000; fromMs += 100) {
    const used = accepted.filter(({ atMs }) => isIn(atMs, { fromMs, untilMs: fromMs + WINDOW_MS })).length;
    if (used >= (rate * WINDOW_MS) / 2000) return (fromMs - backMs) / 1000;
  }
  return undefined;
}

/** A request, in milliseconds after the start. */
type Arrival = { readonly atMs: number; readonly refused: boolean };

/** A platform that only records when requests arrive, and has one empty page for each. */
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

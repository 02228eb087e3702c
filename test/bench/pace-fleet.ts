import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { sleep } from '../../lib/base/async.ts';
import type { PaceCounts } from '../../lib/pace/pace.ts';
import type { WorkerFaults } from './pace-scenarios.ts';
import { type SandboxProcess, startLocalAwsProcess, startSandboxProcess } from './sandbox-process.ts';

export type WorkerPlan = {
  readonly kind: 'busy' | 'idle';
  readonly rate: number;
  readonly concurrency: number;
  /** Number of concurrent loops, each of which makes one call after another. */
  readonly loops: number;
  /** The settings that the sandbox and the local AWS printed. */
  readonly settings: Readonly<Record<string, string>>;
  readonly faults?: WorkerFaults;
};

export type WorkerStart = { readonly startAtMs: number; readonly endAtMs: number };

/** The counts of a worker so far. */
export type WorkerReport = PaceCounts & {
  /** The number of writes to DynamoDB. */
  readonly writes: number;
  readonly reads: number;
  /** The number of calls with the response 200, by the tick of the wall clock. */
  readonly succeededByTick: Readonly<Record<string, number>>;
};

export type FleetPlan = {
  readonly rate: number;
  readonly seconds: number;
  readonly busy: number;
  readonly idle: number;
  /** The number of additional busy workers, each of which is killed once in the run, one after another, and replaced. */
  readonly dying: number;
  /** A fault of the platform during the run. */
  readonly duringRun?: (sandbox: SandboxProcess, startAtMs: number) => Promise<void>;
};

export type FleetRun = {
  readonly startAtMs: number;
  /** The number of calls of workers between start and end, as counted by the platform. */
  readonly used: number;
  readonly refused: number;
  readonly mostInOneSecond: number;
  /** The number of writes of all workers. Killed ones count up to their last report. */
  readonly writes: number;
  readonly reads: number;
  readonly wasted: number;
  /** Calls of workers with the response 200, by the tick of the wall clock. */
  readonly succeededByTick: ReadonlyMap<number, number>;
};

/** The interval by which responses are counted, in milliseconds. */
export const TICK_MS = 100;

const CONCURRENCY = 8;
/** The platform's limit, as a multiple of the rate. */
const HEADROOM = 1.02;

/** Runs a fleet of processes against a new sandbox, and stops them all. */
export async function runFleet(plan: FleetPlan): Promise<FleetRun> {
  const { rate, seconds } = plan;
  const limit = String(rate * HEADROOM);
  await using sandbox = await startSandboxProcess('--calculations', '100', '--rate', limit);
  await using aws = await startLocalAwsProcess();
  const shared = { rate, concurrency: CONCURRENCY, loops: CONCURRENCY };
  const settings = { ...aws.settings, ...sandbox.settings };
  const children: Child[] = [];
  const start = async (kind: WorkerPlan['kind']) => {
    const child = await startWorker({ ...shared, kind, settings });
    children.push(child);
    return child;
  };
  try {
    const steady = [];
    for (let at = 0; at < plan.busy; at += 1) steady.push(start('busy'));
    for (let at = 0; at < plan.idle; at += 1) steady.push(start('idle'));
    const dying = Array.from({ length: plan.dying }, () => start('busy'));
    await Promise.all([...steady, ...dying]);

    const startAtMs = Date.now() + 500;
    const endAtMs = startAtMs + seconds * 1000;
    for (const child of children) child.process.send({ startAtMs, endAtMs } satisfies WorkerStart);
    const deaths = Promise.all(
      dying.map(async (doomed, at) => {
        await sleep(startAtMs + ((at + 1) * (endAtMs - startAtMs)) / (plan.dying + 1) - Date.now());
        (await doomed).process.kill('SIGKILL');
        const next = await start('busy');
        next.process.send({ startAtMs: Date.now(), endAtMs } satisfies WorkerStart);
      }),
    );
    const duringRun = plan.duringRun?.(sandbox, startAtMs);
    await sleep(endAtMs - Date.now());
    const counts = await sandbox.counts();
    await Promise.all([deaths, duringRun]);
    await Promise.all(children.map(({ ended }) => ended));
    return summarize(children, counts, startAtMs);
  } finally {
    for (const { process } of children) process.kill('SIGKILL');
  }
}

export type Child = {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  last: WorkerReport | undefined;
};

/** Starts a worker process, which waits for its `WorkerStart`. */
export async function startWorker(plan: WorkerPlan): Promise<Child> {
  const process = fork('test/bench/pace-worker-process.ts', [JSON.stringify(plan)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const child: Child = { process, ended: once(process, 'exit'), last: undefined };
  await once(process, 'message');
  process.on('message', (message) => {
    child.last = message as WorkerReport;
  });
  return child;
}

function summarize(
  children: readonly Child[],
  { byOperation, mostInOneSecond }: Awaited<ReturnType<SandboxProcess['counts']>>,
  startAtMs: number,
): FleetRun {
  const reports = children.flatMap(({ last }) => (last === undefined ? [] : [last]));
  const sum = (count: (report: WorkerReport) => number) =>
    reports.reduce((total, report) => total + count(report), 0);
  const byTick = new Map<number, number>();
  for (const { succeededByTick } of reports)
    for (const [tick, count] of Object.entries(succeededByTick))
      byTick.set(Number(tick), (byTick.get(Number(tick)) ?? 0) + count);
  const responses = byOperation['searchCalculations'] ?? {};
  return {
    startAtMs,
    used: responses['200'] ?? 0,
    refused: responses['429'] ?? 0,
    mostInOneSecond,
    writes: sum(({ writes }) => writes),
    reads: sum(({ reads }) => reads),
    wasted: sum(({ wasted }) => wasted),
    succeededByTick: byTick,
  };
}

import { createLedger } from '../../../lib/jobs/ledger/ledger.ts';
import { redriveFailed } from '../../../lib/jobs/redrive.ts';
import { sendsMany } from '../../../lib/jobs/types/job-types.ts';
import { resetBudget } from '../../../lib/pace/budget.ts';
import { readJobs } from '../../../lib/report/collect/jobs.ts';
import { findRuns } from '../../../lib/snapshot/history/index.ts';
import { planPrune, pruneRuns } from '../../../lib/snapshot/history/prune.ts';
import { bodyOf } from '../job-plan.ts';
import { meddleWithBatch, type SentBatches, splitAsPlanned } from './batches.ts';
import type { Deed, Plan } from './plan.ts';
import type { Scene } from './scene.ts';
import { storeFor } from './shared-store.ts';

/** The messages of the plan's jobs, and those actions of people that the promises must allow for. */
export type Sent = {
  /** The id of each job, by its number from 1. For a body without an id, it is the id of the job's first message. */
  readonly ids: Map<number, string>;
  /** The times at which each job was reopened, by its id. */
  readonly reopened: Map<string, readonly number[]>;
  readonly cancelled: Set<string>;
  /** The times of prunes. After one, all but the newest `KEPT` runs may be deleted. */
  readonly prunedAtMs: number[];
  readonly batches: SentBatches;
};

export const nothingSent = (): Sent => ({
  ids: new Map(),
  reopened: new Map(),
  cancelled: new Set(),
  prunedAtMs: [],
  batches: { split: new Map(), cancelled: new Set(), forgotten: new Map() },
});

/** The number of published runs that a prune keeps. */
export const KEPT = 3;

/** How long slots that were reserved before a reset may still be used, as in `pace --reset`. */
const RESET_AFTER_MS = 1_000;

/** Sends the jobs, batches and snapshots of the plan at their times. */
export function sendAsPlanned(plan: Plan, scene: Scene, sent: Sent): void {
  const { world, queue } = scene;
  const at = (atMs: number, act: () => void) => void world.clock.sleep(atMs).then(act);
  for (const [index, { job, atMs }] of plan.jobs.entries()) {
    const number = index + 1;
    at(atMs, () => {
      const messageId = queue.send(bodyOf(job, number));
      const isNamed = job.type !== 'run-function' || job.isNamed;
      sent.ids.set(number, isNamed ? `job-${number}` : messageId);
      world.log('sender', `sends ${messageId}: job ${sent.ids.get(number)}, ${JSON.stringify(job)}`);
    });
  }
  for (const [index, atMs] of plan.snapshotsAtMs.entries())
    at(atMs, () => {
      const message = { version: 1, type: 'snapshot', id: `snapshot-${index + 1}`, source: 'calculations' };
      world.log('scheduler', `sends snapshot-${index + 1}`);
      queue.send(JSON.stringify(message));
    });
  splitAsPlanned(plan, scene, sent.batches);
}

/** Performs one deed of people at its time in the plan. Only prunes and commands on batches meet faults. */
export async function meddle(plan: Plan, deed: Deed, scene: Scene, sent: Sent): Promise<void> {
  const { world, table, queue } = scene;
  await world.clock.sleep(deed.atMs);
  world.log('person', JSON.stringify(deed));
  switch (deed.kind) {
    case 'pause':
      return void (await table.budget.change('pause', (budget) => ({
        ...budget,
        pausedAtMs: world.machineNow(),
      })));
    case 'resume':
      return void (await table.budget.change('resume', (budget) => ({ ...budget, pausedAtMs: undefined })));
    case 'reset':
      return void (await table.budget.change('reset', (budget) =>
        resetBudget(budget, world.machineNow() + RESET_AFTER_MS),
      ));
    case 'deploy':
      for (const process of world.running()) world.end(process, 'is replaced by a deployment');
      return;
    case 'prune':
      sent.prunedAtMs.push(world.sinceStartMs());
      return pruneUntilDone(scene);
    case 'cancel batch':
    case 'redrive batch':
    case 'forget':
      return meddleWithBatch(deed, scene, sent.batches);
    case 'send again': {
      const planned = plan.jobs[deed.job - 1];
      const id = sent.ids.get(deed.job);
      if (planned === undefined || id === undefined || id !== `job-${deed.job}`) return;
      return void queue.send(bodyOf(planned.job, deed.job));
    }
    case 'cancel':
    case 'redrive': {
      const id = sent.ids.get(deed.job);
      if (id === undefined) return;
      const ledger = createLedger({
        table: table.rows,
        now: world.machineNow,
        newToken: () => `person-${deed.atMs}-${world.dice.below(2 ** 32)}`,
      });
      if (deed.kind === 'cancel') {
        sent.cancelled.add(id);
        await ledger.cancel(id, { stops: sendsMany });
        return;
      }
      const before = await ledger.read(id);
      const { store } = scene;
      const batches = { store, table: table.rows, newToken: () => 'none', now: world.machineNow };
      const here = {
        async send(bodies: readonly string[]) {
          for (const body of bodies) queue.send(body);
        },
      };
      const { opened } = await redriveFailed([id], { store, ledger, queue: here, batches });
      if (opened.length > 0 && before?.state === 'FAILED')
        sent.reopened.set(id, [...(sent.reopened.get(id) ?? []), world.sinceStartMs()]);
      return;
    }
    default:
      return deed satisfies never;
  }
}

/** How often a failed prune is repeated, and after how long. A prune that dies is repeated only the next morning. */
const PRUNES = 5;
const AGAIN_MS = 5_000;

async function pruneUntilDone(scene: Scene): Promise<void> {
  const { world } = scene;
  for (let tries = 1; tries <= PRUNES; tries += 1) {
    try {
      return await prune(scene);
    } catch (error) {
      world.log('person', `prune ends: ${String(error)}`);
      await world.clock.sleep(AGAIN_MS);
    }
  }
}

/** Runs `prune calculations --keep 3` in a separate process, which may die halfway. */
async function prune({ world, store: shared }: Scene): Promise<void> {
  // The name of a process seeds its faults, so each prune dies at a different operation.
  const process = world.start(`prune at ${Math.round(world.sinceStartMs())}`);
  const store = storeFor(shared, process, world);
  const rule = { kind: 'keep', keep: KEPT } as const;
  const { signal } = new AbortController();
  try {
    const plan = await planPrune({ store, place: 'calculations', rule, nowMs: world.now() });
    await pruneRuns({ ...plan, store, removePartition: undefined, signal, onRemoved: () => {} });
  } finally {
    world.end(process, 'ends');
  }
}

/** Reads what `runs` lists and how many jobs the report counts. `faults`: what is wrong with them, in words. */
export async function readAtTheEnd({ world, store }: Scene) {
  const faults: string[] = [];
  const addFault = (what: string) => void faults.push(what);
  const { signal } = new AbortController();
  const { jobs } = await readJobs({ store, nowMs: world.now(), addFault, signal });
  const { listed, broken } = await findRuns({ store, place: undefined, all: false, limit: 10_000 });
  return { listed, jobs, faults: [...broken, ...faults] };
}

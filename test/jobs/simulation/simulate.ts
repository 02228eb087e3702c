import { basename } from 'node:path';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Table } from '../../../lib/table/table.ts';
import { createMemoryTable } from '../../table/memory-table.ts';
import { createMemoryStore, type SmallStore } from './faulty-store.ts';
import { type Meddling, meddle, type Sent } from './people.ts';
import { bodyOf, type Plan } from './plan.ts';
import { checkPromises } from './promises.ts';
import { createSimulatedPlatform } from './simulated-platform.ts';
import { createSimulatedQueue } from './simulated-queue.ts';
import { createWitness } from './witness.ts';
import { pollForInvocations, type Scene, workWithRenewal } from './workers.ts';
import { createWorld, type World } from './world.ts';

/** Parts that replace the real ones: broken on purpose, to see that the simulation detects it. */
export type Parts = {
  readonly withTable?: (table: Table) => Table;
  readonly withStore?: (store: SmallStore) => SmallStore;
  readonly withLedger?: Scene['withLedger'];
};

const MOST_STEPS = 20_000;

/** Runs one schedule, and returns the promises that it broke and what happened in it. */
export async function simulate(
  plan: Plan,
  parts: Parts = {},
): Promise<{ readonly violations: readonly string[]; readonly trace: readonly string[] }> {
  const world = createWorld(plan);
  const violations: string[] = [];
  const broken = (what: string) => {
    violations.push(what);
    world.log('BROKEN', what);
  };
  const finished = new Map<string, Set<string>>();
  const scene = setScene({ plan, parts, world, finished, broken });
  const { sent, idOf } = sendJobs(plan, scene);
  const nonsense = plan.nonsense.map((body) => scene.queue.send(body));
  const meddling: Meddling = { reopened: [], otherContents: [] };
  for (const deed of plan.deeds) void meddle(plan, deed, { sent, idOf }, scene, meddling);
  for (const [index, kind] of plan.workers.entries()) {
    if (kind === 'deadline') void pollForInvocations(`lambda-${index}`, scene);
    else workWithRenewal(`worker-${index}`, scene);
  }

  const isOver = await world.run(MOST_STEPS);

  if (!isOver) broken(`the queue was not empty after ${MOST_STEPS} steps`);
  else await checkPromises({ plan, scene, meddling, sent, idOf, nonsense, finished, broken });
  return { violations, trace: world.trace };
}

type Setting = {
  readonly plan: Plan;
  readonly parts: Parts;
  readonly world: World;
  readonly finished: Map<string, Set<string>>;
  readonly broken: (what: string) => void;
};

function setScene({ plan, parts, world, finished, broken }: Setting): Scene {
  const store = createMemoryStore(watchResults(broken));
  const table = createMemoryTable();
  const platform = createSimulatedPlatform(world, (subject) => functionEnd(plan, subject));
  return {
    world,
    table: parts.withTable?.(table) ?? table,
    store: parts.withStore?.(store) ?? store,
    queue: createSimulatedQueue(world),
    platform,
    witness: createWitness(world, broken),
    settles: plan.settles,
    withLedger: parts.withLedger ?? ((ledger: Ledger) => ledger),
    reported: (id, status) => void finished.set(id, (finished.get(id) ?? new Set()).add(status)),
  };
}

/** Puts the first message of each job on the queue. A job without an id gets that of its message. */
function sendJobs(plan: Plan, { queue, world }: Scene) {
  const sent: Sent = new Map();
  const ids = new Map<number, string>();
  for (const [index, job] of plan.jobs.entries()) {
    const number = index + 1;
    const messageId = queue.send(bodyOf(job, number), world.dice.pick([0, 0, 500, 60_000]));
    sent.set(number, [messageId]);
    ids.set(number, job.type === 'run-function' && !job.isNamed ? messageId : `job-${number}`);
  }
  return { sent, idOf: (number: number) => ids.get(number) ?? '' };
}

/** How a function ends on the platform, which executes whatever content it is sent: as its job says. */
function functionEnd(plan: Plan, subject: string) {
  const job = plan.jobs.find((_, index) => subject.startsWith(`subject-${index + 1}`));
  return job?.type === 'run-function' ? job.end : 'SUCCESS';
}

/** Checks every result against the one before it, at the moment when it becomes visible. */
function watchResults(broken: (what: string) => void) {
  const statuses = new Map<string, string>();
  /** Jobs that were called unknown, and whose workers have staged the proof that nothing left. */
  const neverSent = new Set<string>();
  return (key: string, body: string) => {
    const [folder, area, id = ''] = key.split('/');
    if (area === 'outcomes' && body.includes('"never-sent"')) neverSent.add(`${id}.json`);
    if (folder !== 'results') return;
    const { status } = JSON.parse(body) as { readonly status: string };
    const before = statuses.get(key);
    if (before === 'done' && status !== 'done') broken(`${key} was done, and then ${status}`);
    if (before === 'unknown' && status === 'failed' && !neverSent.has(basename(key)))
      broken(`${key} was unknown, and then failed`);
    statuses.set(key, status);
  };
}

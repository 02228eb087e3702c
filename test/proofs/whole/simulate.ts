import { createExecutions } from './executions.ts';
import { watchGrowth } from './growth.ts';
import { renameHost } from './hosts.ts';
import { meddle, nothingSent, readAtTheEnd, sendAsPlanned } from './people.ts';
import type { Plan } from './plan.ts';
import { checkPromises } from './promises/promises.ts';
import { checkRun, watchLatest } from './promises/published.ts';
import { watchRecovery } from './recovery.ts';
import type { Parts, Scene } from './scene.ts';
import { createSharedQueue } from './shared-queue.ts';
import { createSharedStore } from './shared-store.ts';
import { createSharedTable } from './shared-table.ts';
import { createWholePlatform } from './whole-platform.ts';
import { pollForInvocations, workForever } from './workers.ts';
import { createWorld } from './world.ts';

/**
 * Everything must have ended this long after the last fault. A message of an invocation that was killed, or whose
 * receipt was lost, is hidden for 15.5 minutes; a second message of the job then waits for the first one's lease, at
 * most 15 minutes. A code function whose response never comes takes 5.5 minutes. Waits between tries (a minute for a
 * job, ten minutes for a step of a snapshot) and the backlog itself take less than that lease.
 */
const RECOVERY_MS = 33 * 60_000;

/** The recovery is watched for at least this long. */
const MIN_CALM_MS = 125_000;

/**
 * The violation that is allowed where clocks are a month off: a run is refused because, by its publisher's clock, the
 * published one is from the future. It is counted as `refused`.
 */
const OF_THE_FUTURE = /^Nothing is given up for a fault: execution \S+ refused /;

/** The outcome of a schedule: the broken promises, its timeline, and counts. */
export type Ended = {
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly facts: Readonly<
    Record<string, number | string | readonly string[] | Readonly<Record<string, number>> | undefined>
  >;
};

/** Runs a schedule to its end, with `parts` in place of the real ones. */
export async function simulate(plan: Plan, parts: Parts = {}): Promise<Ended> {
  using world = createWorld(plan);
  using _ = renameHost(world.now);
  const violations: string[] = [];
  let refused = 0;
  const broken = (what: string) => {
    if (plan.clockPercent > 0 && OF_THE_FUTURE.test(what)) {
      refused += 1;
      return;
    }
    violations.push(what);
    world.log('BROKEN', what);
  };
  const finished = new Map<string, Set<string>>();
  const published = watchLatest(world, (moved) => void checkRun(moved, { scene, broken }));
  const scene: Scene = {
    world,
    parts,
    table: createSharedTable(world),
    store: createSharedStore((key, body) => published.seen(key, body)),
    queue: createSharedQueue(world),
    platform: createWholePlatform(world, (subject) => endOf(plan, subject)),
    executions: createExecutions(() => scene),
    reported: (id, status) => void finished.set(id, (finished.get(id) ?? new Set()).add(status)),
  };
  const sent = nothingSent();
  sendAsPlanned(plan, scene, sent);
  for (const deed of plan.deeds) void meddle(plan, deed, scene, sent);
  const recovery = watchRecovery(plan, scene);
  const growth = watchGrowth(scene);
  const [a = 0, b = 0, ...skewsMs] = plan.skewsMs;
  void pollForInvocations('lambda-1', scene, a);
  void pollForInvocations('lambda-2', scene, b);
  for (let number = 1; number <= plan.workers; number += 1)
    workForever(`work-${number}`, scene, skewsMs[number - 1] ?? 0);

  const isDone = () =>
    scene.queue.all().length === 0 &&
    [...scene.executions.started().values()].every((how) => how !== undefined);
  const endMs = plan.calmFromMs + RECOVERY_MS;
  await world.clock.run(plan.calmFromMs + MIN_CALM_MS);
  while (world.sinceStartMs() < endMs && !isDone()) await world.clock.run(world.sinceStartMs() + 5_000);

  const read = await readAtTheEnd(scene);
  const facts = await checkPromises({ plan, scene, sent, finished, recovery, published, read, broken });
  return { violations, trace: world.trace, facts: { ...facts, ...world.counts, refused, growth: growth() } };
}

function endOf(plan: Plan, subject: string) {
  const planned = plan.jobs[Number(subject.split('-')[1]) - 1];
  return planned?.job.type === 'run-function' ? planned.job.end : 'SUCCESS';
}

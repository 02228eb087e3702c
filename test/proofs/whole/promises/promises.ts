import { KEPT, type readAtTheEnd, type Sent } from '../people.ts';
import type { Plan } from '../plan.ts';
import type { watchRecovery } from '../recovery.ts';
import type { Scene } from '../scene.ts';
import { checkAnswers } from './answers.ts';
import { checkBatches } from './batches.ts';
import { checkJobs } from './jobs.ts';
import { checkPublished, type watchLatest } from './published.ts';
import { checkTexts } from './texts.ts';

/** Names that a file on Windows cannot have. */
const NOT_ON_WINDOWS = /[<>:"|?*]|[ .](?:\/|$)|(?:^|\/)(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|\/|$)/i;

/** A finished schedule. `broken` is called for every broken promise. */
export type Finished = {
  readonly plan: Plan;
  readonly scene: Scene;
  readonly sent: Sent;
  /** The statuses reported for each job, by its id. */
  readonly finished: ReadonlyMap<string, ReadonlySet<string>>;
  readonly recovery: ReturnType<typeof watchRecovery>;
  readonly published: ReturnType<typeof watchLatest>;
  /** What people read after everything had ended. */
  readonly read: Awaited<ReturnType<typeof readAtTheEnd>>;
  readonly broken: (what: string) => void;
};

/** Checks the promises of the design, each under its name, and returns counts. */
export async function checkPromises(ended: Finished) {
  const { plan, scene, recovery, broken } = ended;
  const jobs = await checkJobs(ended);
  const batches = await checkBatches(ended);
  const texts = await checkTexts(ended, batches);
  const runs = await checkPublished(ended);
  await checkAnswers(ended);
  const most = checkRate(ended);
  const waitedMs = checkOthers(ended);
  const remaining = scene.queue.all();
  if (remaining.length > 0)
    broken(
      `It recovers by itself: ${remaining.length} messages are still on the queue: ${remaining.slice(0, 3).map(({ body }) => body.slice(0, 80))}`,
    );
  for (const [name, how] of scene.executions.started())
    if (how === undefined) broken(`It recovers by itself: execution ${name} has not ended`);
  for await (const { key } of scene.store.list(''))
    if (NOT_ON_WINDOWS.test(key))
      broken(`The promises hold with nothing but a folder: ${key} is no file there`);
  const state = await checkState(ended);
  const share = recovery.share();
  if (share !== undefined && share < 0.5)
    broken(
      `It recovers by itself: ${Math.round(100 * share)} % of the rate was used from a minute after the last fault on`,
    );
  return {
    ...jobs,
    batches: batches.size,
    ...texts,
    ...runs,
    maxInASecond: most,
    ...(waitedMs === undefined ? {} : { waitedMs }),
    rate: plan.rate,
    throttled: scene.platform.throttled.length,
    calls: scene.platform.arrivals.length,
    ...state,
    shareAfter: share === undefined ? undefined : Math.round(100 * share),
    minutes: Math.round(scene.world.sinceStartMs() / 6_000) / 10,
  };
}

/** **The budget is the fleet's**: no sliding second at the platform holds more requests than the rate. */
function checkRate({ plan, scene, broken }: Finished): number {
  const { most, atMs } = maxInASecond(scene.platform.arrivals);
  if (most > plan.rate)
    broken(
      `The budget is the fleet's: ${most} requests in the second before ${atMs / 1_000} s, at a rate of ${plan.rate}`,
    );
  return most;
}

/** Maximum number of objects of a run: parts, checkpoint, notes, manifest, and what its publication leaves. */
const MAX_OBJECTS_A_RUN = 12;

/** **State grows as the runs do, and no faster**: returns the number of rows and objects, by the first word of their keys. */
async function checkState({ plan, scene, sent, recovery, broken }: Finished) {
  const rows = new Map<string, number>();
  const objects = new Map<string, number>();
  const add = (to: Map<string, number>, [name = '']: readonly string[]) =>
    to.set(name, (to.get(name) ?? 0) + 1);
  for await (const { key } of scene.table.rows.scan('')) add(rows, key.partition.split('#'));
  for await (const { key } of scene.store.list('')) add(objects, key.split('/'));
  const runs = scene.executions.started().size;
  const chunks = plan.batches.reduce((sum, { texts }) => sum + Math.ceil(texts.length / 100), 0);
  const jobs = plan.jobs.length + plan.snapshotsAtMs.length + recovery.ids().length + chunks + runs;
  const bounds = [
    ['rows of jobs', rows.get('job'), jobs],
    ['results', objects.get('results'), jobs],
    // Each morning all but the newest runs are pruned, but the last prune may have died.
    [
      'objects of calculations',
      objects.get('calculations'),
      sent.prunedAtMs.length < 3 ? Number.POSITIVE_INFINITY : MAX_OBJECTS_A_RUN * (KEPT + 3),
    ],
    ['objects of work', objects.get('work'), MAX_OBJECTS_A_RUN * runs + jobs],
  ] as const;
  for (const [what, found = 0, most] of bounds)
    if (found > most)
      broken(
        `State grows as the runs do: ${found} ${what} after ${jobs} jobs and ${runs} runs, at most ${most}`,
      );
  return { rows: Object.fromEntries(rows), objects: Object.fromEntries(objects) };
}

/** At least half of the other jobs that are sent while texts are rejected wait at most this long. */
const OTHERS_MS = 120_000;

/** **What is refused alone stops no other**: returns the median time that the other jobs waited until they were executed. */
function checkOthers({ plan, scene, broken }: Finished): number | undefined {
  const waits = plan.jobs.flatMap(({ job, atMs }, index) => {
    const isOther = job.type === 'run-function' || job.type === 'update-formula';
    const isMeanwhile = plan.quotas.some(({ fromMs, toMs }) => atMs >= fromMs + OTHERS_MS && atMs < toMs);
    if (!isOther || !isMeanwhile) return [];
    const [execution] = scene.platform.executionsOf(`subject-${index + 1}`);
    return [(execution?.atMs ?? Number.POSITIVE_INFINITY) - atMs];
  });
  const median = waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)];
  if (median !== undefined && median > OTHERS_MS)
    broken(
      `What is refused alone stops no other: half of ${waits.length} jobs waited over ${median / 1_000} s`,
    );
  return median === undefined ? undefined : Math.round(median);
}

function maxInASecond(arrivals: readonly number[]) {
  const times = arrivals.toSorted((a, b) => a - b);
  let [first, most, at] = [0, 0, 0];
  for (const [last, atMs] of times.entries()) {
    while ((times[first] ?? atMs) <= atMs - 1_000) first += 1;
    if (last - first + 1 > most) [most, at] = [last - first + 1, atMs];
  }
  return { most, atMs: at };
}

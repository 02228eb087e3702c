import type { Lease } from '../../../../lib/jobs/delivery.ts';
import { handleMessage, type Worker } from '../../../../lib/jobs/handle-message.ts';
import { createLedger } from '../../../../lib/jobs/ledger/ledger.ts';
import { CACHE_PREFIX } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { type BudgetItem, createMemoryBudget } from '../../../../lib/pace/budget.ts';
import { createFleetPace } from '../../../../lib/pace/fleet-pace.ts';
import type { Send } from '../../../../lib/platform/http/transport.ts';
import type { RowKey, Table } from '../../../../lib/table/table.ts';
import { createVirtualClock } from '../../../pace/virtual-clock.ts';
import { clientOver } from '../../../platform/client-over.ts';
import { ok } from '../../../platform/fake-call.ts';
import { createMemoryStore } from '../../../store/memory-store.ts';
import { createMemoryTable } from '../../../table/memory-table.ts';
import { workerOver } from '../../worker-over.ts';

/** A fleet that runs score jobs, in virtual time. */
export type ScoringPlan = {
  /** Requests a second of the whole fleet. */
  readonly rate: number;
  readonly workers: number;
  /** Jobs that a worker runs at the same time. */
  readonly concurrency: number;
  readonly chunks: number;
  readonly textsOfChunk: number;
  /** Duration of one call in milliseconds. */
  readonly callMs: number;
  /** Length of an invocation in milliseconds; undefined for workers without a deadline. */
  readonly invocationMs?: number;
};

const TABLE_MS = 6;
const EPOCH_MS = 1_795_276_800_000;

/** Runs the plan until all jobs have ended, and returns its costs. */
export async function simulateScoring(plan: ScoringPlan) {
  const clock = createVirtualClock();
  const now = () => EPOCH_MS + clock.now();
  const counts = { textReads: 0, textWrites: 0, jobReads: 0, jobWrites: 0, putOffs: 0, calls: 0 };
  const departures: number[] = [];
  const memory = createMemoryTable();
  const overNetwork = async <T>(
    kind: 'Reads' | 'Writes',
    { partition }: RowKey,
    act: () => Promise<T>,
  ): Promise<T> => {
    counts[`${partition.startsWith(CACHE_PREFIX) ? 'text' : 'job'}${kind}`] += 1;
    await clock.sleep(TABLE_MS);
    return act();
  };
  const table: Table = {
    ...memory,
    get: (key) => overNetwork('Reads', key, () => memory.get(key)),
    getAll: (keys) => overNetwork('Reads', keys[0] ?? { partition: '', sort: '' }, () => memory.getAll(keys)),
    put: (key, ...put) => overNetwork('Writes', key, () => memory.put(key, ...put)),
    delete: (key, token) => overNetwork('Writes', key, () => memory.delete(key, token)),
  };
  const budget = createMemoryBudget();
  let tokens = 0;
  const newToken = () => {
    tokens += 1;
    return `token-${tokens}`;
  };
  const queue = Array.from({ length: plan.chunks }, (_, chunk) => ({ chunk, atMs: 0 }));
  let open = plan.chunks;

  const workerOf = (name: string): Worker => {
    const item: BudgetItem = {
      read: () => clock.sleep(TABLE_MS).then(budget.read),
      change: (act, next) => clock.sleep(TABLE_MS).then(() => budget.change(act, next)),
    };
    const pace = createFleetPace({
      item,
      rate: plan.rate,
      concurrency: 8,
      maxWaitMs: 20_000,
      now,
      sleep: clock.sleep,
    });
    const send: Send = async () => {
      counts.calls += 1;
      departures.push(clock.now());
      await clock.sleep(plan.callMs);
      return ok({ type: 'DEFAULT', sentiment: 'POSITIVE' });
    };
    const parts = { now, sleep: clock.sleep, random: () => 0.5 };
    return workerOver({
      ...parts,
      owner: name,
      table,
      store: createMemoryStore(),
      platform: clientOver({ ...parts, send, pace }),
      newToken,
      rate: plan.rate,
      ledger: createLedger({ table, now, newToken }),
      reportFinished: async () => undefined,
    });
  };

  const invocationLease = (deadlineMs: number | undefined): Lease => ({
    deadlineMs,
    leaseMs: plan.invocationMs ?? 3_600_000,
    writeUntilMs: () => deadlineMs ?? Number.POSITIVE_INFINITY,
    holdLease: () => ({ signal: new AbortController().signal, [Symbol.asyncDispose]: async () => undefined }),
  });

  const pull = async (worker: Worker): Promise<void> => {
    while (open > 0) {
      const at = queue.findIndex(({ atMs }) => atMs <= clock.now());
      const [taken] = at < 0 ? [] : queue.splice(at, 1);
      if (taken === undefined) {
        await clock.sleep(500);
        continue;
      }
      const { chunk } = taken;
      const texts = Array.from({ length: plan.textsOfChunk }, (_, index) => ({
        id: `t-${index}`,
        text: `text ${chunk}-${index}`,
      }));
      const body = JSON.stringify({ version: 1, type: 'score', id: `job-${chunk}`, texts });
      const message = { messageId: `m-${chunk}`, body, sender: 'x', receives: 1, receipt: 'r' };
      const deadlineMs = plan.invocationMs === undefined ? undefined : now() + plan.invocationMs;
      const handled = await handleMessage(message, worker, invocationLease(deadlineMs));
      if (handled.kind === 'done') open -= 1;
      else {
        counts.putOffs += 1;
        queue.push({ chunk, atMs: clock.now() + ('delayMs' in handled ? handled.delayMs : 0) });
      }
    }
  };

  const all = Promise.all(
    Array.from({ length: plan.workers }, (_, index) => {
      const worker = workerOf(`worker-${index}`);
      return Promise.all(Array.from({ length: plan.concurrency }, () => pull(worker)));
    }),
  );
  await clock.run();
  await all;
  const texts = plan.chunks * plan.textsOfChunk;
  const max = departures.slice(0, Math.floor(0.8 * departures.length));
  const spanMs = (max.at(-1) ?? 0) - (max[0] ?? 0);
  return {
    ...counts,
    /** Reads and writes of text rows per text; `allWrites` includes job rows. */
    readsOfText: counts.textReads / texts,
    writesOfText: counts.textWrites / texts,
    allWrites: (counts.textWrites + counts.jobWrites) / texts,
    /** The share of slots that were used while every worker still had work: until 80% of the calls. */
    shareOfRate: (max.length - 1) / ((spanMs / 1_000) * plan.rate),
  };
}

import * as z from 'zod/mini';
import { hasEnded } from '../../../lib/jobs/ledger/job-row.ts';
import type { Ledger } from '../../../lib/jobs/ledger/ledger.ts';
import type { Queue } from '../../../lib/jobs/queue/queue.ts';
import type { PlatformCounter } from '../../../lib/sandbox/platform/counts.ts';
import type { Store } from '../../../lib/store/store.ts';
import type { StormJob } from './jobs.ts';
import type { Witness } from './witness.ts';

const resultSchema = z.looseObject({
  id: z.string(),
  status: z.enum(['done', 'failed', 'unknown']),
  error: z.optional(z.looseObject({ kind: z.string(), message: z.string() })),
});

const summarySchema = z.looseObject({
  rows: z.number(),
  scored: z.number(),
  failed: z.number(),
  cached: z.number(),
  calls: z.number(),
  paidAgain: z.number(),
});

export type Result = z.infer<typeof resultSchema>;
type Summary = z.infer<typeof summarySchema>;

export type After = {
  readonly jobs: ReadonlyMap<string, StormJob>;
  readonly batchTexts: readonly string[];
  /** The outcomes in the ledger by job id; undefined if the job has not ended. */
  readonly ends: ReadonlyMap<string, string | undefined>;
  readonly results: readonly Result[];
  readonly refused: number;
  readonly summary: Summary | undefined;
  readonly counts: ReturnType<PlatformCounter['read']>;
  readonly excuses: ReadonlyMap<string, number>;
  /** Jobs that were taken over before their lease had ended. */
  readonly tooSoon: readonly string[];
  /** The number of messages on the jobs queue, and of dead letters. */
  readonly queued: number;
  readonly dead: number;
  /** The fleet's rate divided by the configured one. */
  readonly rateShare: number;
  /** The configured requests a second, and the maximum that arrived within one second. */
  readonly rate: number;
  readonly mostInOneSecond: number;
  readonly crashes: readonly string[];
  /** Time since the last fault ended. */
  readonly recoveredMs: number;
  /** What is not over yet; empty once all jobs have ended and the rate has recovered. */
  readonly open: readonly string[];
};

export type AfterParts = {
  readonly jobs: ReadonlyMap<string, StormJob>;
  readonly batchTexts: readonly string[];
  readonly ledger: Ledger;
  readonly store: Store;
  readonly counts: ReturnType<PlatformCounter['read']>;
  readonly witness: Witness;
  readonly queues: readonly [
    jobs: Awaited<ReturnType<Queue['counts']>>,
    dead: Awaited<ReturnType<Queue['counts']>>,
  ];
  readonly rateShare: number;
  readonly rate: number;
  readonly ends: readonly string[];
  readonly recoveredMs: number;
};

export async function readAfter(parts: AfterParts): Promise<After> {
  const { jobs, ledger, store, witness, queues } = parts;
  const ends = new Map<string, string | undefined>();
  for await (const row of ledger.list()) ends.set(row.id, hasEnded(row) ? row.outcome.status : undefined);
  const missing = [...jobs.keys()].filter((id) => ends.get(id) === undefined);
  const [queued, dead] = queues.map(({ waiting, inFlight, delayed }) => waiting + inFlight + delayed);
  // There are many results, so they are read only when all jobs have ended.
  const isQuiet = missing.length === 0 && queued === 0;
  const results = isQuiet ? await readResults(store) : [];
  const byId = new Map(results.map(({ id, status }) => [id, status]));
  const differing = [...ends].filter(([id, status]) => byId.get(id) !== status).map(([id]) => id);
  const summary = await store.get('scores/storm/_summary.json');
  const open = [
    ...missing.map((id) => `job ${id} has not ended`),
    ...(queued === 0 ? [] : [`${queued} messages are on the queue`]),
    ...(isQuiet ? differing.map((id) => `the result of job ${id} is not what the ledger says`) : []),
    ...(summary === undefined ? ['the batch has no summary'] : []),
    ...(parts.rateShare >= 0.5 ? [] : [`the rate is ${Math.round(parts.rateShare * 100)} % of what it was`]),
  ];
  return {
    ...parts,
    ends,
    results,
    refused: (await Array.fromAsync(store.list('refused/'))).length,
    summary: summary && summarySchema.parse(JSON.parse(summary.body.toString())),
    excuses: witness.excuses(),
    tooSoon: witness.tooSoon(),
    mostInOneSecond: witness.mostInOneSecond(),
    queued: queued ?? 0,
    dead: dead ?? 0,
    crashes: parts.ends,
    open,
  };
}

async function readResults(store: Store): Promise<readonly Result[]> {
  const results: Result[] = [];
  for await (const { key } of store.list('results/'))
    results.push(resultSchema.parse(JSON.parse((await store.get(key))?.body.toString() ?? 'null')));
  return results;
}

import * as z from 'zod/mini';
import { recordOf } from '../../../base/index.ts';
import { tokensOf } from '../../../platform/index.ts';
import { CANCELLED } from '../../ledger/job-row.ts';
import type { TextResult } from '../scoring/score-texts.ts';
import type { ScoredRow } from './chunk-objects.ts';

const count = z.number();
const counts = recordOf(count);

export const countsSchema = z.object({
  /** All rows of the chunk: scored, failed, bad and erased. */
  rows: count,
  scored: count,
  failed: count,
  /** Those of the failed rows whose job was cancelled. */
  cancelled: count,
  bad: count,
  /** Rows whose text has been forgotten since. */
  erased: count,
  /** Rows whose result came from the cache, or from an equal text of the chunk. */
  cached: count,
  calls: count,
  paidAgain: count,
  /** Those of the calls; cached results cost nothing. */
  tokens: z.object({ input: count, output: count, total: count, reasoning: count }),
  /** How often each sentiment occurs, in lower case: for texts as a whole, and by topic. */
  sentiments: z.object({ overall: counts, topics: recordOf(counts) }),
});

export type ChunkCounts = z.infer<typeof countsSchema>;

export type Costs = Pick<ChunkCounts, 'cached' | 'calls' | 'paidAgain' | 'tokens'>;

const NO_SENTIMENTS: ChunkCounts['sentiments'] = { overall: {}, topics: {} };

/** Adds the numbers of two objects by their names, at any depth. */
function added<Counts extends object>(one: Counts, other: Counts): Counts {
  const sums = new Map<string, unknown>(Object.entries(one));
  for (const [name, more] of Object.entries(other)) {
    const sum = sums.get(name);
    sums.set(name, typeof more === 'number' ? more + Number(sum ?? 0) : added(Object(sum ?? {}), more));
  }
  return Object.fromEntries(sums) as Counts;
}

export const sumOf = (chunks: readonly ChunkCounts[]): ChunkCounts =>
  chunks.reduce(added, countChunk([], [], { badRows: [] }));

export const costsIn = ({ cached, calls, paidAgain, tokens }: ChunkCounts): Costs => ({
  cached,
  calls,
  paidAgain,
  tokens,
});

/** Counts a chunk: its rows from its part, its costs from the results, and what it cost before it was reopened. */
export function countChunk(
  rows: readonly ScoredRow[],
  results: readonly TextResult[],
  chunk: { readonly badRows: readonly unknown[]; readonly counts?: ChunkCounts | undefined },
): ChunkCounts {
  const costs = costsOf(results);
  const all = chunk.counts === undefined ? costs : added(costs, costsIn(chunk.counts));
  return { ...countRowsOf(rows, chunk.badRows.length), ...all };
}

export const costsOf = (results: readonly TextResult[]): Costs =>
  results.map(costOf).reduce(added, costOf({ cached: false, calls: 0, paidAgain: 0 }));

function costOf({ cached, calls, paidAgain, result }: Omit<TextResult, 'id'>): Costs {
  const tokens = tokensOf(calls > 0 ? result : undefined);
  return { cached: cached ? 1 : 0, calls, paidAgain, tokens };
}

/** Counts the rows of a part; `bad` of them were bad from the start. A part does not show what was paid. */
export function countRowsOf(rows: readonly ScoredRow[], bad: number): Omit<ChunkCounts, keyof Costs> {
  const erased = rows.filter((row) => row.erased === true).length;
  const failed = rows.filter(({ error }) => error !== undefined).length - bad;
  const cancelled = rows.filter(({ error }) => error?.startsWith(CANCELLED)).length;
  const scored = rows.length - bad - erased - failed;
  const sentiments = rows.map(sentimentsOf).reduce(added, NO_SENTIMENTS);
  return { rows: rows.length, scored, failed, cancelled, bad, erased, sentiments };
}

function sentimentsOf({ topicSentiments, sentiment }: ScoredRow): ChunkCounts['sentiments'] {
  const named = typeof topicSentiments === 'object' ? Object.entries(topicSentiments ?? {}) : [];
  const topics = named.filter(([, value]) => typeof value === 'string');
  return {
    overall: once(sentiment),
    topics: Object.fromEntries(topics.map(([topic, value]) => [topic.toWellFormed(), once(value)])),
  };
}

/** The table accepts only well-formed text. */
const once = (sentiment: unknown) =>
  typeof sentiment === 'string' ? { [sentiment.toLowerCase().toWellFormed()]: 1 } : {};

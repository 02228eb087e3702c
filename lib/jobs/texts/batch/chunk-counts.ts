import * as z from 'zod/mini';
import { CANCELLED } from '../../ledger/job-row.ts';
import type { TextResult } from '../scoring/score-texts.ts';
import type { ScoredRow } from './chunk-objects.ts';

const count = z.number();

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
  /**
   * How often each sentiment occurs, in lower case: [topic, sentiment, rows], the topic null for a text as a whole.
   * A list, since a topic may have any name.
   */
  sentiments: z.array(z.tuple([z.nullable(z.string()), z.string(), count])),
});

/** The outcome of a chunk, in numbers. */
export type ChunkCounts = z.infer<typeof countsSchema>;

/** What texts cost. */
export type Costs = Pick<ChunkCounts, 'cached' | 'calls' | 'paidAgain' | 'tokens'>;

/** What a chunk, or a batch, is counted as, but for its sentiments. */
type Totals = Omit<ChunkCounts, 'sentiments'>;

const NO_COSTS: Costs = {
  cached: 0,
  calls: 0,
  paidAgain: 0,
  tokens: { input: 0, output: 0, total: 0, reasoning: 0 },
};

const NO_TOTALS: Totals = { rows: 0, scored: 0, failed: 0, cancelled: 0, bad: 0, erased: 0, ...NO_COSTS };

/** Adds the numbers of two objects, at any depth, by the names of the first. */
function added<Counts extends object>(one: Counts, other: Counts): Counts {
  const sums = Object.entries(one).map(([name, value]) => {
    const more = other[name as keyof Counts];
    return [name, typeof value === 'number' ? value + Number(more) : added(value, more as object)];
  });
  return Object.fromEntries(sums) as Counts;
}

/** The sum of the counts of chunks. */
export const sumOf = (chunks: readonly Totals[]): Totals => chunks.reduce(added, NO_TOTALS);

/**
 * Counts a chunk: its rows from its part, its costs from the results, and what it cost before it was reopened. `chunk`: as
 * it was while it was open.
 */
export function countChunk(
  rows: readonly ScoredRow[],
  results: readonly TextResult[],
  chunk: { readonly badRows: readonly unknown[]; readonly counts?: ChunkCounts | undefined },
): ChunkCounts {
  return { ...countRowsOf(rows, chunk.badRows.length), ...added(costsOf(results), chunk.counts ?? NO_COSTS) };
}

export const costsOf = (results: readonly TextResult[]): Costs => results.map(costOf).reduce(added, NO_COSTS);

function costOf({ cached, calls, paidAgain, result }: TextResult): Costs {
  const usage = calls > 0 ? result?.modelProviderUsage : undefined;
  const tokens = {
    input: usage?.inputTokens ?? 0,
    output: usage?.outputTokens ?? 0,
    total: usage?.totalTokens ?? 0,
    reasoning: usage?.reasoningTokens ?? 0,
  };
  return { cached: cached ? 1 : 0, calls, paidAgain, tokens };
}

/** Counts the rows of a part; `bad` of them were bad from the start. A part does not show what was paid. */
export function countRowsOf(rows: readonly ScoredRow[], bad: number): Omit<ChunkCounts, keyof Costs> {
  const erased = rows.filter((row) => row.erased === true).length;
  const failed = rows.filter(({ error }) => error !== undefined).length - bad;
  const cancelled = rows.filter(({ error }) => error?.startsWith(CANCELLED)).length;
  const scored = rows.length - bad - erased - failed;
  const sentiments = addSentiments(rows.flatMap(sentimentsOf));
  return { rows: rows.length, scored, failed, cancelled, bad, erased, sentiments };
}

/** The table accepts only well-formed text. */
function sentimentsOf({ topicSentiments, sentiment }: ScoredRow): ChunkCounts['sentiments'] {
  const named = typeof topicSentiments === 'object' ? Object.entries(topicSentiments ?? {}) : [];
  return [...named, [null, sentiment] as const].flatMap(([topic, value]) =>
    typeof value === 'string' ? [[topic?.toWellFormed() ?? null, value.toLowerCase().toWellFormed(), 1]] : [],
  );
}

/** Each topic and sentiment once, with the sum of its rows, in a fixed order. */
export function addSentiments(all: ChunkCounts['sentiments']): ChunkCounts['sentiments'] {
  const sums = new Map<string, ChunkCounts['sentiments'][number]>();
  for (const [topic, sentiment, rows] of all) {
    const name = JSON.stringify([topic, sentiment]);
    sums.set(name, [topic, sentiment, rows + (sums.get(name)?.[2] ?? 0)]);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

import * as z from 'zod/mini';
import { recordOf } from '../../../base/json/index.ts';
import { tokensOf } from '../../../platform/index.ts';
import type { TextResult } from '../scoring/score-texts.ts';
import { outcomeOf, type RowCosts, type ScoredRow } from './chunk-objects.ts';

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
  /** Tokens used by calls; cached results use none. */
  tokens: z.object({ input: count, output: count, total: count, reasoning: count }),
  /** How often each sentiment occurs, in lower case: for texts as a whole, and by topic. */
  sentiments: z.object({ overall: counts, topics: recordOf(counts) }),
});

export type ChunkCounts = z.infer<typeof countsSchema>;

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

export const sumOf = (chunks: readonly ChunkCounts[]): ChunkCounts => chunks.reduce(added, countRows([]));

export const costsIn = ({
  cached = 0,
  calls = 0,
  paidAgain = 0,
  tokens = NO_TOKENS,
}: Partial<RowCosts>): RowCosts => ({ cached, calls, paidAgain, tokens });

const NO_TOKENS = tokensOf(undefined);

/** What two tries of a row have cost together, if anything. */
export function addedCosts(one: Partial<RowCosts> = {}, other: Partial<RowCosts> = {}): Partial<RowCosts> {
  const costs = added(costsIn(one), costsIn(other));
  return costs.calls + costs.cached === 0 ? {} : costs;
}

export const costsOf = (results: readonly TextResult[]): RowCosts =>
  results.map(costOf).reduce(added, costsIn({}));

export function costOf({ cached, calls, paidAgain, result }: Omit<TextResult, 'id'>): RowCosts {
  return { cached: cached ? 1 : 0, calls, paidAgain, tokens: tokensOf(calls > 0 ? result : undefined) };
}

/** Counts the rows of a part. */
export function countRows(rows: readonly ScoredRow[]): ChunkCounts {
  const ended = rows.map(outcomeOf);
  const having = (...wanted: typeof ended) => ended.filter((outcome) => wanted.includes(outcome)).length;
  return {
    rows: rows.length,
    scored: having('scored'),
    failed: having('failed', 'cancelled'),
    cancelled: having('cancelled'),
    bad: having('bad'),
    erased: having('erased'),
    ...rows.map(costsIn).reduce(added, costsIn({})),
    sentiments: rows.map(sentimentsOf).reduce(added, NO_SENTIMENTS),
  };
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
const once = (sentiment: unknown) => (typeof sentiment === 'string' ? { [sentiment.toWellFormed()]: 1 } : {});

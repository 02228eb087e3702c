import * as z from 'zod/mini';
import { recordOf } from '../../../base/index.ts';
import { type BatchCounts, batchCounts, type RowCosts } from '../../../model/rules/index.ts';
import { tokensOf } from '../../../platform/index.ts';
import type { TextResult } from '../scoring/score-texts.ts';
import { outcomeOf, type ScoredRow } from './chunk-objects.ts';

const counts = recordOf(z.number());

const numbers = <Name extends string>(counted: Readonly<Record<Name, unknown>>) =>
  Object.fromEntries(Object.keys(counted).map((name) => [name, z.number()])) as Record<Name, z.ZodMiniNumber>;

export const countsSchema = z.object({
  ...numbers(batchCounts.rows),
  ...numbers(batchCounts.costs),
  /** The tokens that calls used; cached results use no tokens. */
  tokens: z.object(numbers(batchCounts.tokens)),
  /** How often each sentiment occurs, in lower case: for texts as a whole, and for each topic. */
  sentiments: z.object({ overall: counts, topics: recordOf(counts) }),
});

export type ChunkCounts = z.infer<typeof countsSchema>;

const NO_SENTIMENTS: ChunkCounts['sentiments'] = { overall: {}, topics: {} };

/** Adds the numbers of two objects with the same names, at any depth. */
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

/** The combined cost of two tries of a row, if any. */
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
  const having = (wanted: readonly (typeof ended)[number][]) =>
    ended.filter((each) => wanted.includes(each)).length;
  const counted = Object.entries(batchCounts.rows).map(([name, { outcomes }]) => [name, having(outcomes)]);
  return {
    ...(Object.fromEntries(counted) as Omit<BatchCounts, keyof RowCosts>),
    ...rows.map(costsIn).reduce(added, costsIn({})),
    sentiments: rows.map(sentimentsOf).reduce(added, NO_SENTIMENTS),
  };
}

function sentimentsOf({ topicSentiments, sentiment }: ScoredRow): ChunkCounts['sentiments'] {
  const named = typeof topicSentiments === 'object' ? Object.entries(topicSentiments ?? {}) : [];
  const topics = named.filter(([, value]) => typeof value === 'string');
  return {
    overall: countOf(sentiment),
    topics: Object.fromEntries(topics.map(([topic, value]) => [topic.toWellFormed(), countOf(value)])),
  };
}

/** A count of one for a sentiment. The sentiment is made well-formed, since the table accepts only such strings. */
const countOf = (sentiment: unknown) =>
  typeof sentiment === 'string' ? { [sentiment.toWellFormed()]: 1 } : {};

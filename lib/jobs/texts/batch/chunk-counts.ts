import * as z from 'zod/mini';
import { recordOf } from '../../../base/index.ts';
import { type BatchCounts, batchCounts, type RowCosts } from '../../../model/rules/index.ts';
import { tokensOf } from '../../../platform/index.ts';
import type { TextResult } from '../scoring/score-texts.ts';
import { outcomeOf, type ScoredRow } from './chunk-objects.ts';

const counts = recordOf(z.number());

const numberSchemas = <Name extends string>(counted: Readonly<Record<Name, unknown>>) =>
  Object.fromEntries(Object.keys(counted).map((name) => [name, z.number()])) as Record<Name, z.ZodMiniNumber>;

/** The schema of `ChunkCounts`. */
export const countsSchema = z.object({
  ...numberSchemas(batchCounts.rows),
  ...numberSchemas(batchCounts.costs),
  /** The tokens that calls used; cached results use no tokens. */
  tokens: z.object(numberSchemas(batchCounts.tokens)),
  /** How many times each sentiment occurs, in lower case: for texts as a whole, and for each topic. */
  sentiments: z.object({ overall: counts, topics: recordOf(counts) }),
});

/** What a chunk counts: its rows by outcome, their costs and their sentiments. */
export type ChunkCounts = z.infer<typeof countsSchema>;

const NO_SENTIMENTS: ChunkCounts['sentiments'] = { overall: {}, topics: {} };

/** Adds the numbers of two objects with the same names, at any depth. */
function addDeep<Counts extends object>(one: Counts, other: Counts): Counts {
  const sums = new Map<string, unknown>(Object.entries(one));
  for (const [name, more] of Object.entries(other)) {
    const sum = sums.get(name);
    sums.set(name, typeof more === 'number' ? more + Number(sum ?? 0) : addDeep(Object(sum ?? {}), more));
  }
  return Object.fromEntries(sums) as Counts;
}

/** The counts of all chunks together. */
export const sumCounts = (chunks: readonly ChunkCounts[]): ChunkCounts =>
  chunks.reduce(addDeep, countRows([]));

/** The costs of a row, with zero for each that is missing. */
export const withZeroCosts = ({
  cached = 0,
  calls = 0,
  paidAgain = 0,
  tokens = NO_TOKENS,
}: Partial<RowCosts>): RowCosts => ({ cached, calls, paidAgain, tokens });

const NO_TOKENS = tokensOf(undefined);

/** The combined cost of two tries of a row, if any. */
export function addCosts(one: Partial<RowCosts> = {}, other: Partial<RowCosts> = {}): Partial<RowCosts> {
  const costs = addDeep(withZeroCosts(one), withZeroCosts(other));
  return costs.calls + costs.cached === 0 ? {} : costs;
}

/** The costs of all results together. */
export const totalCosts = (results: readonly TextResult[]): RowCosts =>
  results.map(costOfResult).reduce(addDeep, withZeroCosts({}));

/** The cost of one result. The tokens of a cached result count as zero. */
export function costOfResult({ cached, calls, paidAgain, result }: Omit<TextResult, 'id'>): RowCosts {
  return { cached: cached ? 1 : 0, calls, paidAgain, tokens: tokensOf(calls > 0 ? result : undefined) };
}

/** Counts the rows of a part. */
export function countRows(rows: readonly ScoredRow[]): ChunkCounts {
  const rowOutcomes = rows.map(outcomeOf);
  const numberWith = (outcomes: readonly (typeof rowOutcomes)[number][]) =>
    rowOutcomes.filter((each) => outcomes.includes(each)).length;
  const counted = Object.entries(batchCounts.rows).map(([name, { outcomes }]) => [
    name,
    numberWith(outcomes),
  ]);
  return {
    ...(Object.fromEntries(counted) as Omit<BatchCounts, keyof RowCosts>),
    ...rows.map(withZeroCosts).reduce(addDeep, withZeroCosts({})),
    sentiments: rows.map(sentimentsOf).reduce(addDeep, NO_SENTIMENTS),
  };
}

function sentimentsOf({ topicSentiments, sentiment }: ScoredRow): ChunkCounts['sentiments'] {
  const entries = typeof topicSentiments === 'object' ? Object.entries(topicSentiments ?? {}) : [];
  const topics = entries.filter(([, value]) => typeof value === 'string');
  return {
    overall: countOne(sentiment),
    topics: Object.fromEntries(topics.map(([topic, value]) => [topic.toWellFormed(), countOne(value)])),
  };
}

/** A count of one for a sentiment. The sentiment is made well-formed, since the table accepts only such strings. */
const countOne = (sentiment: unknown) =>
  typeof sentiment === 'string' ? { [sentiment.toWellFormed()]: 1 } : {};

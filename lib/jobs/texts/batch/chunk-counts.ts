import { CANCELLED } from '../../ledger/job-row.ts';
import type { TextResult } from '../scoring/score-texts.ts';
import type { ChunkCounts } from './chunk-row.ts';
import type { ScoredRow } from './part.ts';
import type { StagedRow } from './staged-chunk.ts';

/** What a chunk is counted from. */
export type Counted = {
  readonly staged: readonly StagedRow[];
  readonly rows: readonly ScoredRow[];
  readonly results: readonly TextResult[];
  /** Rows that have the result of an equal text of an earlier part. */
  readonly equal: number;
  /** What was counted before the chunk was reopened. */
  readonly before: ChunkCounts | undefined;
};

/** Counts a chunk: its rows from its part, its costs from the results, and what it cost before it was reopened. */
export function countChunk({ staged, rows, results, equal, before }: Counted): ChunkCounts {
  const { tokens, ...costs } = costsOf(results);
  return {
    ...countRowsOf(rows, staged.filter((row) => 'fault' in row).length),
    cached: costs.cached + equal + (before?.cached ?? 0),
    calls: costs.calls + (before?.calls ?? 0),
    paidAgain: costs.paidAgain + (before?.paidAgain ?? 0),
    tokens: {
      input: sum([tokens.input, before?.tokens.input]),
      output: sum([tokens.output, before?.tokens.output]),
      total: sum([tokens.total, before?.tokens.total]),
      reasoning: sum([tokens.reasoning, before?.tokens.reasoning]),
    },
  };
}

/** What texts cost. */
export type Costs = Pick<ChunkCounts, 'cached' | 'calls' | 'paidAgain' | 'tokens'>;

export const costsOf = (results: readonly TextResult[]): Costs => ({
  cached: results.filter(({ cached }) => cached).length,
  calls: sum(results.map(({ calls }) => calls)),
  paidAgain: sum(results.map(({ paidAgain }) => paidAgain)),
  tokens: countTokens(results.filter(({ calls }) => calls > 0)),
});

/** Counts the rows of a part; `bad` of them were bad from the start. A part does not show what was paid. */
export function countRowsOf(
  rows: readonly ScoredRow[],
  bad: number,
): Pick<ChunkCounts, 'rows' | 'scored' | 'failed' | 'cancelled' | 'bad' | 'erased' | 'sentiments'> {
  const erased = rows.filter((row) => row.erased === true).length;
  const failed = rows.filter(({ error }) => error !== undefined).length - bad;
  const cancelled = rows.filter(({ error }) => error?.startsWith(CANCELLED)).length;
  const scored = rows.length - bad - erased - failed;
  const ofFailed = cancelled === 0 ? {} : { cancelled };
  return { rows: rows.length, scored, failed, ...ofFailed, bad, erased, sentiments: countSentiments(rows) };
}

/** How often each sentiment occurs for each topic (null: for the text as a whole), in lower case, in a fixed order. */
function countSentiments(rows: readonly ScoredRow[]): ChunkCounts['sentiments'] {
  const counts = new Map<string, [topic: string | null, sentiment: string, rows: number]>();
  for (const { topicSentiments, sentiment } of rows) {
    const named = typeof topicSentiments === 'object' ? Object.entries(topicSentiments ?? {}) : [];
    for (const [topic, value] of [...named, [null, sentiment] as const]) {
      if (typeof value !== 'string') continue;
      // The table accepts only well-formed text.
      const entry = [topic?.toWellFormed() ?? null, value.toLowerCase().toWellFormed()] as const;
      const name = JSON.stringify(entry);
      const [, , before] = counts.get(name) ?? [...entry, 0];
      counts.set(name, [...entry, before + 1]);
    }
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

function countTokens(results: readonly TextResult[]): ChunkCounts['tokens'] {
  const usages = results.map(({ result }) => result?.modelProviderUsage);
  return {
    input: sum(usages.map((usage) => usage?.inputTokens)),
    output: sum(usages.map((usage) => usage?.outputTokens)),
    total: sum(usages.map((usage) => usage?.totalTokens)),
    reasoning: sum(usages.map((usage) => usage?.reasoningTokens)),
  };
}

/** The sum of the values that are there. */
const sum = (values: readonly (number | null | undefined)[]): number =>
  values.reduce<number>((all, value) => all + (value ?? 0), 0);

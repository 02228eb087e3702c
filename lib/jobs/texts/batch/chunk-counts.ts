import type { TextAnswer } from '../scoring/score-texts.ts';
import type { ChunkCounts } from './chunk-row.ts';
import type { ScoredRow } from './part.ts';
import type { StagedRow } from './staged-chunk.ts';

/** Counts a chunk: the rows by its part, what was paid by the answers. */
export function countChunk(
  staged: readonly StagedRow[],
  rows: readonly ScoredRow[],
  answers: readonly TextAnswer[],
): ChunkCounts {
  return {
    ...countRowsOf(rows, staged.filter((row) => 'fault' in row).length),
    cached: answers.filter(({ cached }) => cached).length,
    calls: sum(answers.map(({ calls }) => calls)),
    paidAgain: sum(answers.map(({ paidAgain }) => paidAgain)),
    tokens: countTokens(answers.filter(({ calls }) => calls > 0)),
  };
}

/** Counts the rows of a part, of which so many were bad from the first. What was paid is not seen in it. */
export function countRowsOf(
  rows: readonly ScoredRow[],
  bad: number,
): Pick<ChunkCounts, 'rows' | 'scored' | 'failed' | 'bad' | 'erased' | 'sentiments'> {
  const erased = rows.filter((row) => row.erased === true).length;
  const failed = rows.filter(({ error }) => error !== undefined).length - bad;
  const scored = rows.length - bad - erased - failed;
  return { rows: rows.length, scored, failed, bad, erased, sentiments: countSentiments(rows) };
}

/** How often each sentiment came for each topic (null: for the text as a whole), in lower case, in a fixed order. */
function countSentiments(rows: readonly ScoredRow[]): ChunkCounts['sentiments'] {
  const counts = new Map<string, [topic: string | null, sentiment: string, rows: number]>();
  for (const { topicSentiments, sentiment } of rows) {
    const named = typeof topicSentiments === 'object' ? Object.entries(topicSentiments ?? {}) : [];
    for (const [topic, value] of [...named, [null, sentiment] as const]) {
      if (typeof value !== 'string') continue;
      // The table takes well-formed text alone.
      const entry = [topic?.toWellFormed() ?? null, value.toLowerCase().toWellFormed()] as const;
      const name = JSON.stringify(entry);
      const [, , before] = counts.get(name) ?? [...entry, 0];
      counts.set(name, [...entry, before + 1]);
    }
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

function countTokens(answers: readonly TextAnswer[]): ChunkCounts['tokens'] {
  const usages = answers.map(({ result }) => result?.modelProviderUsage);
  return {
    input: sum(usages.map((usage) => usage?.inputTokens)),
    output: sum(usages.map((usage) => usage?.outputTokens)),
    total: sum(usages.map((usage) => usage?.totalTokens)),
    reasoning: sum(usages.map((usage) => usage?.reasoningTokens)),
  };
}

/** The sum of those that are numbers. */
const sum = (values: readonly unknown[]): number =>
  values.reduce<number>(
    (all, value) => all + (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : 0),
    0,
  );

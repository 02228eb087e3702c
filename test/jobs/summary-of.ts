import type { Summary } from '../../lib/jobs/texts/batch/finish-batch.ts';

/** The summary of a batch with these parts and no failed row. */
export function summaryOf(batch: string, parts: Summary['parts']): Summary {
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  return {
    version: 1,
    batch,
    chunks: parts.length,
    rows,
    scored: rows,
    ...{ failed: 0, cancelled: 0, bad: 0, erased: 0, cached: 0, calls: rows, paidAgain: 0 },
    tokens: { input: 0, output: 0, total: 0, reasoning: 0 },
    sentiments: { overall: {}, topics: {} },
    badRows: [],
    parts,
  };
}

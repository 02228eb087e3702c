import type { Change } from './change.ts';
import type { ComparisonStep } from './comparison.ts';
import { type ChangeCounts, createChangeCounter } from './count-changes.ts';

/** Reads a comparison to its end: counts every change and collects the first `limit`. */
export async function collectChanges(
  steps: AsyncIterable<ComparisonStep>,
  limit: number,
): Promise<{ readonly counts: ChangeCounts; readonly changes: readonly Change[] }> {
  const counter = createChangeCounter();
  let changes: Change[] = [];
  for await (const step of steps) {
    counter.add(step);
    if (step.change === 'restart') changes = [];
    else if (changes.length < limit) changes.push(step);
  }
  return { counts: counter.counts(), changes };
}

import type { ComparisonStep } from './comparison.ts';

/** How many records changed, as a manifest's `changes` tells. */
export type ChangeCounts = { readonly added: number; readonly removed: number; readonly changed: number };

/** Counts the steps of a comparison; a restart begins at 0 again. */
export function createChangeCounter() {
  let counts = { added: 0, removed: 0, changed: 0 };
  return {
    add({ change }: ComparisonStep): void {
      if (change === 'restart') counts = { added: 0, removed: 0, changed: 0 };
      else counts[change] += 1;
    },
    counts: (): ChangeCounts => ({ ...counts }),
  };
}

import type { ComparisonStep } from './comparison.ts';

/** How many records changed, as in a manifest's `changes`. */
export type ChangeCounts = { readonly added: number; readonly removed: number; readonly changed: number };

/** Counts the changes of a comparison; a restart sets the counts back to 0. */
export function createChangeCounter() {
  let counts = { added: 0, removed: 0, changed: 0 };
  return {
    add({ change }: Pick<ComparisonStep, 'change'>): void {
      if (change === 'restart') counts = { added: 0, removed: 0, changed: 0 };
      else counts[change] += 1;
    },
    counts: (): ChangeCounts => ({ ...counts }),
  };
}

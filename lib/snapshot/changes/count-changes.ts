import type { Change, LineChange } from './change.ts';

/** How many records changed, as in a manifest's `changes`. */
export type ChangeCounts = { readonly added: number; readonly removed: number; readonly changed: number };

/** Counts changes. */
export function createChangeCounter() {
  const counts = { added: 0, removed: 0, changed: 0 };
  return {
    add({ change }: Pick<Change | LineChange, 'change'>): void {
      counts[change] += 1;
    },
    counts: (): ChangeCounts => ({ ...counts }),
  };
}

/** Reads changes to their end: counts all, and collects the first `limit`. */
export async function collectChanges(
  found: AsyncIterable<Change>,
  limit: number,
): Promise<{ readonly counts: ChangeCounts; readonly changes: readonly Change[] }> {
  const counter = createChangeCounter();
  const changes: Change[] = [];
  for await (const change of found) {
    counter.add(change);
    if (changes.length < limit) changes.push(change);
  }
  return { counts: counter.counts(), changes };
}

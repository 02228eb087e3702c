import type { Store } from '../../store/store.ts';
import { getBounded, MOST_LIST_BYTES } from '../../store/stored-json.ts';

/** The names of a batch's summary, now and in earlier versions. */
export const SUMMARY_NAMES = ['_summary.json', 'summary.json'] as const;

/**
 * Gives the summary that an earlier version wrote the name of today: whoever reads all scores would read its lines as
 * rows of nulls. A summary of that name stays as it is. Whoever is killed leaves both, and the next call deletes the
 * earlier one. `folder` is the batch's, and ends in a slash.
 */
export async function renameEarlierSummary(store: Store, folder: string): Promise<void> {
  const [now, earlier] = SUMMARY_NAMES.map((name) => `${folder}${name}`) as [string, string];
  const stored = await getBounded(store, earlier, MOST_LIST_BYTES);
  if (stored === undefined) return;
  const put = await store.put(now, stored.body, { condition: { ifAbsent: true } });
  await store.delete(earlier);
  // A batch that was forgotten meanwhile stays forgotten.
  if (put.kind === 'stored' && !(await hasParts(store, folder))) await store.delete(now);
}

async function hasParts(store: Store, folder: string): Promise<boolean> {
  for await (const _ of store.list(`${folder}part-`)) return true;
  return false;
}

import type * as z from 'zod/mini';
import { findStored, MOST_LIST_BYTES, printBounded, type Store } from '../../store/index.ts';

/**
 * Does a piece of work unless its outcome is stored, and stores the outcome: a publication that is resumed, after
 * whatever stopped it, does not do it again. The work itself may be repeated, if it was stopped before that.
 */
export async function onceStored<T>(
  store: Store,
  key: string,
  schema: z.ZodMiniType<T>,
  work: () => Promise<T>,
): Promise<{ readonly outcome: T; readonly isNew: boolean }> {
  const stored = await findStored(store, key, schema, MOST_LIST_BYTES);
  if (stored !== undefined) return { outcome: stored.value, isNew: false };
  const outcome = await work();
  await store.put(key, printBounded(key, outcome, MOST_LIST_BYTES));
  return { outcome, isNew: true };
}

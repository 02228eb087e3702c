import * as z from 'zod/mini';
import { type StoredRow, updateRow } from '../../../table/index.ts';
import { type BatchStorage, batchPartition, CALLS_SORT, RETENTION_MS } from './batch.ts';

/** The maximum calls of a batch, and how many were sent or are about to be sent. */
const limitSchema = z.object({ max: z.number(), calls: z.number() });

type LimitStorage = Pick<BatchStorage, 'table' | 'newToken' | 'now'>;

const limitKey = (batch: string) => ({ partition: batchPartition(batch), sort: CALLS_SORT });

/** Sets the maximum calls of a batch. The calls so far count towards the new maximum. */
export async function setCallLimit(batch: string, max: number, storage: LimitStorage): Promise<void> {
  await change(batch, storage, ({ calls }) => ({ max, calls }));
}

/** Opens the limit of a batch's calls, over all processes that score it; undefined if it has none. */
export async function openCallLimit(batch: string, storage: LimitStorage) {
  const stored = await storage.table.get(limitKey(batch));
  if (stored === undefined) return undefined;
  return {
    max: limitSchema.parse(stored.row).max,
    /** Counts a call that is about to be sent. Returns false if the batch may make no more calls. */
    take: () =>
      change(batch, storage, ({ max, calls }) => (calls < max ? { max, calls: calls + 1 } : undefined)),
    /** Uncounts a call that was not sent. */
    giveBack: async () =>
      void (await change(batch, storage, ({ max, calls }) => ({ max, calls: calls - 1 }))),
  };
}

/**
 * Replaces the stored limit by the result of `next`, also if several processes do so at the same time. Returns false
 * if the result is undefined.
 */
async function change(
  batch: string,
  { table, newToken }: LimitStorage,
  next: (limit: z.infer<typeof limitSchema>) => z.infer<typeof limitSchema> | undefined,
): Promise<boolean> {
  const decide = (stored: StoredRow | undefined) =>
    next(stored === undefined ? { max: 0, calls: 0 } : limitSchema.parse(stored.row));
  const options = { newToken, lifetimeMs: RETENTION_MS };
  return (await updateRow(table, limitKey(batch), decide, options)) !== undefined;
}

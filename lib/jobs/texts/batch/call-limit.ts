import * as z from 'zod/mini';
import { type BatchStorage, RETENTION_MS } from './batch.ts';

const limitSchema = z.object({ most: z.number(), calls: z.number() });

/** The most calls of a batch, and how many have left, or are about to. */
type Limit = z.infer<typeof limitSchema>;

/** Bounds the calls of a batch over all processes that score it. */
export type CallLimit = {
  readonly most: number;
  /** Counts a call that is about to leave; false if the batch may make no more. */
  take(): Promise<boolean>;
  /** Takes back one that did not leave. */
  giveBack(): Promise<void>;
};

type LimitStorage = Pick<BatchStorage, 'table' | 'newToken' | 'now'>;

/** Where the calls of a batch are counted. */
export const limitKey = (batch: string) => ({ partition: `batch-calls#${batch}`, sort: '-' });

/** Sets the most calls of a batch; those that were counted before stay counted. */
export async function setCallLimit(batch: string, most: number, storage: LimitStorage): Promise<void> {
  await change(batch, storage, ({ calls }) => ({ most, calls }));
}

/** The bound of a batch; undefined if none was set. */
export async function openCallLimit(batch: string, storage: LimitStorage): Promise<CallLimit | undefined> {
  const found = await read(batch, storage);
  if (found === undefined) return undefined;
  return {
    most: found.limit.most,
    take: () =>
      change(batch, storage, ({ most, calls }) => (calls < most ? { most, calls: calls + 1 } : undefined)),
    giveBack: async () =>
      void (await change(batch, storage, ({ most, calls }) => ({ most, calls: calls - 1 }))),
  };
}

async function read(batch: string, { table }: Pick<LimitStorage, 'table'>) {
  const stored = await table.get(limitKey(batch));
  return stored && { limit: limitSchema.parse(stored.row), token: stored.token };
}

/** Writes what `next` makes of the stored limit, however many processes do so at once; false if that is nothing. */
async function change(
  batch: string,
  storage: LimitStorage,
  next: (limit: Limit) => Limit | undefined,
): Promise<boolean> {
  const { table, newToken, now } = storage;
  for (;;) {
    const found = await read(batch, storage);
    const limit = next(found?.limit ?? { most: 0, calls: 0 });
    if (limit === undefined) return false;
    const options = { expected: found?.token ?? null, token: newToken(), expiresAtMs: now() + RETENTION_MS };
    if ((await table.put(limitKey(batch), limit, options)).kind === 'stored') return true;
  }
}

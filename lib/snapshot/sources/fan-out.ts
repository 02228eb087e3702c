import * as z from 'zod/mini';
import { emptyBatch, type RecordBatch } from '../page/record-batch.ts';
import type { Scan } from '../scan.ts';
import { type MissingId, missingId, missingIdSchema, refusedForMissing } from './missing-ids.ts';
import { readAhead } from './read-ahead.ts';

/** Where a fan-out goes on. What was read ahead is not in it, and is read again. */
export type FanOutPosition = {
  /** Index of the next id. */
  readonly next: number;
  /** Records so far. */
  readonly records: number;
  readonly missing: readonly MissingId[];
};

export const fanOutPosition: z.ZodMiniType<FanOutPosition> = z.object({
  next: z.number(),
  records: z.number(),
  missing: z.array(missingIdSchema),
});

export type FanOutOptions = {
  /** Without repeats, in the order in which their records are written. */
  readonly ids: readonly string[];
  /** The records of one id, in order. */
  readonly read: (id: string, signal: AbortSignal) => Promise<RecordBatch>;
  /** How many records there will be, where the ids tell; null where they do not. */
  readonly total: number | null;
  /** Ids that are read ahead of the one to be written, that one included. Default 8. */
  readonly concurrency?: number | undefined;
};

/** Enough to keep the pace busy at an answer a second; memory holds as many answers. */
const CONCURRENCY = 8;

/**
 * Reads one answer an id, in parallel, and writes them in the order of the ids: a step an id. An id that answers 404
 * or 403 is missing; every other error ends the scan and aborts what is under way. Each answer is whole, so what is
 * there is proved. Throws `TypeError` on a wrong `concurrency`.
 */
export function fanOut(options: FanOutOptions): Scan<FanOutPosition> {
  const { ids, total, concurrency = CONCURRENCY } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new TypeError(`concurrency: expected a whole number from 1, got ${concurrency}`);
  }
  return async function* ({ from = START, signal }) {
    let position = from;
    const read = (id: string, stop: AbortSignal) => readOne(id, options.read, stop);
    for await (const one of readAhead({ items: ids.slice(from.next), read, concurrency, signal })) {
      position = after(position, one);
      yield { batch: one.batch, position, total };
    }
    const { missing } = position;
    return {
      proved: true,
      totals: { start: null, end: null },
      order: 'ids',
      missing,
      refused: refusedForMissing(missing, ids.length),
    };
  };
}

const START: FanOutPosition = { next: 0, records: 0, missing: [] };

/** What one id came to. */
type One = { readonly batch: RecordBatch; readonly missing?: MissingId };

async function readOne(id: string, read: FanOutOptions['read'], signal: AbortSignal): Promise<One> {
  try {
    return { batch: await read(id, signal) };
  } catch (error) {
    const missing = missingId(id, error);
    if (missing === undefined) throw error;
    return { batch: emptyBatch, missing };
  }
}

const after = ({ next, records, missing }: FanOutPosition, one: One): FanOutPosition => ({
  next: next + 1,
  records: records + one.batch.keys.length,
  missing: one.missing === undefined ? missing : [...missing, one.missing],
});

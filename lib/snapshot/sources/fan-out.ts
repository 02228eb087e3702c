import * as z from 'zod/mini';
import { emptyBatch, type RecordBatch } from '../page/record-batch.ts';
import type { MissingId, Scan } from '../scan.ts';
import {
  afterFailure,
  type Had,
  type ReadOfId,
  refuseBadRequests,
  refusedForMissing,
} from './missing-ids.ts';
import { readAhead } from './read-ahead.ts';

/** Where a fan-out resumes. It does not include what was read ahead, which is read again. */
export const fanOutPosition = z.object({
  /** The index of the next id. */
  next: z.number(),
  records: z.number(),
  /** How many ids before it are missing. */
  missing: z.number(),
});

export type FanOutPosition = z.infer<typeof fanOutPosition>;

export type FanOutOptions = {
  /** Without duplicates, in the order in which their records are written. */
  readonly ids: readonly string[];
  readonly read: (id: string, signal: AbortSignal) => Promise<RecordBatch>;
  /** How many records there will be, if the ids determine it; otherwise null. */
  readonly total: number | null;
};

/** How many ids are read ahead: enough to use the whole pace if a response takes a second. */
const CONCURRENCY = 8;

/**
 * One step per id, in the order of the ids. An id that cannot be had is missing (`afterFailure`); any other error ends the
 * scan.
 */
export function fanOut({ ids, read, total }: FanOutOptions): Scan<FanOutPosition> {
  return async function* ({ from = START, signal }) {
    let position = from;
    let answered: string | undefined;
    const ahead = readAhead({
      items: ids.slice(from.next),
      async read(id, stop): Promise<One> {
        const had = await readOrMissing({
          ids,
          id,
          answered,
          read: (each) => read(each, stop),
          drop: (batch) => batch.release?.(),
        });
        if (had.kind === 'had') {
          answered = id;
          return { batch: had.result, missing: [] };
        }
        return { batch: emptyBatch, missing: [had.missing], error: had.error };
      },
      concurrency: CONCURRENCY,
      sizeOf: ({ batch }) => batch.heldBytes,
      signal,
    });
    for await (const { error, ...one } of ahead) {
      position = {
        next: position.next + 1,
        records: position.records + one.batch.records,
        missing: position.missing + one.missing.length,
      };
      refuseBadRequests(position.missing, ids.length, error);
      yield { ...one, position, total, share: position.next / ids.length };
    }
    return {
      consistency: 'proved',
      assumes: ['current-responses'],
      totals: { start: null, end: null },
      order: 'ids',
      refused: refusedForMissing(position.missing, ids.length),
    };
  };
}

const START: FanOutPosition = { next: 0, records: 0, missing: 0 };

type One = {
  readonly batch: RecordBatch;
  readonly missing: readonly MissingId[];
  /** Why it is missing. */
  readonly error?: unknown;
};

const readOrMissing = (options: ReadOfId<RecordBatch>): Promise<Had<RecordBatch>> =>
  options.read(options.id).then(
    (result) => ({ kind: 'had', result }),
    (error: unknown) => afterFailure(error, options),
  );

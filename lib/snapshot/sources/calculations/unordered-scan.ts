import * as z from 'zod/mini';
import type { Id } from '../../../platform/index.ts';
import { emptyBatch } from '../../page/record-batch.ts';
import { provedIf, type Scan } from '../../scan.ts';
import type { ReadPage } from './pages.ts';
import { counted, NO_PROGRESS, outcomeOf, progressSchema, refuseStall, withReported } from './progress.ts';

/*
 * Without an order, a lost row looks the same as one that never existed. So the rows are read from the first to an
 * empty page, each id is taken once, and that is repeated until a round brings nothing new: a row missed in one round,
 * because rows were deleted or came in another order, shows up in the next. This is a best effort and not a proof.
 */

export type UnorderedScanOptions = {
  readonly readPage: ReadPage;
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
};

/** How far an unordered scan has progressed; plain JSON. */
export const unorderedPosition = z.extend(progressSchema, {
  /** The number of the round, in which all rows are read; 1 is the first. */
  round: z.number(),
  /** True if the round has brought something new. */
  isNew: z.boolean(),
});

export type UnorderedPosition = z.infer<typeof unorderedPosition>;

const START: UnorderedPosition = { ...NO_PROGRESS, round: 1, isNew: false };

/** The most rounds, for a platform that has something new in each of them. */
const MOST_ROUNDS = 4;

/**
 * Reads all rows in whatever order they come, except those that the run has already taken, each id once; its outcome is
 * never proved. Memory holds every id of the source: without an order there is no other way to take each one once. The
 * first step yields only a position: wherever the run is stopped after that, it resumes without an order. Throws
 * `ScanError` if the scan makes no progress.
 */
export function unorderedScan({ readPage, limit }: UnorderedScanOptions): Scan<UnorderedPosition> {
  return async function* scan({ from, signal, takenKeys }) {
    let position = from ?? START;
    if (from === undefined) yield { batch: emptyBatch, position, total: null };
    const taken = new Set<Id>();
    for await (const keys of takenKeys()) for (const key of keys) taken.add(key);
    while (position.round <= MOST_ROUNDS) {
      refuseStall(position);
      const page = await readPage({ ascending: true, offset: position.next, limit, signal });
      const { keys } = page;
      const fresh = [...keys.keys()].filter((row) => isFirst(keys[row] ?? '', taken));
      const next = position.next + keys.length;
      const isNew = position.isNew || fresh.length > 0;
      position = { ...counted(withReported(position, page), fresh.length), next, isNew };
      if (fresh.length > 0) yield { batch: page.batchOf(fresh), position, total: position.totals.end };
      if (keys.length > 0) continue;
      if (!isNew) break;
      position = { ...position, round: position.round + 1, next: 0, isNew: false, idle: 0 };
    }
    return outcomeOf(position, 'none', provedIf(false, []));
  };
}

/** Adds a key; false if it was already there. */
function isFirst(key: Id, taken: Set<Id>): boolean {
  const { size } = taken;
  return taken.add(key).size > size;
}

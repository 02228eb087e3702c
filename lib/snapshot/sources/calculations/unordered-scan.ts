import { emptyBatch } from '../../page/record-batch.ts';
import { type ScanStart, type ScanStep, UNPROVED } from '../../scan.ts';
import type { ReadOptions } from './ordered-scan.ts';
import {
  type CalculationRead,
  counted,
  NO_PROGRESS,
  outcomeOf,
  type Progress,
  refuseStall,
  withReported,
} from './progress.ts';

/*
 * Without an order, a lost row looks the same as one that never existed. So the rows are read from the first to an
 * empty page, each id is taken once, and that is repeated until a round brings nothing new: a row missed in one round,
 * because rows were deleted or came in another order, shows up in the next. This is a best effort and not a proof.
 */

/** The most rounds, for a platform that has something new in each of them. */
const MAX_ROUNDS = 4;

/** Twice what was reported at the start: the list grows while it is read, and what came since is for the next run. */
const isRunaway = ({ next, totals: { start } }: Progress): boolean =>
  start !== null && start > 0 && next > 2 * start;

/**
 * Reads all rows in whatever order they come, each id once, but for those that the run has already taken. Memory holds
 * every id. From an order, the first step yields only a position: the run resumes without one. Throws `ScanError`.
 */
export async function* unorderedScan(
  { readPage, limit }: ReadOptions,
  { from, signal, takenKeys }: ScanStart<Progress> & { readonly from: Progress },
): AsyncGenerator<ScanStep<Progress>, CalculationRead, undefined> {
  let position = from;
  if (from.round === 0) {
    position = { ...NO_PROGRESS, field: from.field, round: 1 };
    yield { batch: emptyBatch, position, total: null };
  }
  const taken = new Set<string>();
  for await (const keys of takenKeys()) for (const key of keys) taken.add(key);
  while (position.round <= MAX_ROUNDS) {
    refuseStall(position);
    const page = await readPage({ ascending: true, offset: position.next, limit, signal });
    const { keys } = page;
    const fresh: number[] = [];
    for (const [row, key] of keys.entries()) if (taken.size < taken.add(key).size) fresh.push(row);
    const next = position.next + page.received;
    const isNew = position.isNew || fresh.length > 0;
    position = { ...counted(withReported(position, page), fresh.length), next, isNew };
    if (fresh.length > 0) yield { batch: page.batchOf(fresh), position, total: position.totals.end };
    if (page.received > 0 && !isRunaway(position)) continue;
    if (!isNew) break;
    position = { ...position, round: position.round + 1, next: 0, isNew: false, idle: 0 };
  }
  return outcomeOf(position, 'none', UNPROVED);
}

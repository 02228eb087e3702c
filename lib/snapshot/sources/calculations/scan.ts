import * as z from 'zod/mini';
import { emptyBatch } from '../../page/record-fields.ts';
import {
  isShort,
  type Scan,
  type ScanOutcome,
  type ScanStart,
  type ScanStep,
  UNVERIFIED,
} from '../../scan.ts';
import { isBadRequest, isServerError } from '../fan-out.ts';
import {
  type Judgement,
  type ReadEnd,
  type RereadPosition,
  rereading,
  rereadPosition,
} from '../rereading.ts';
import { orderedScan } from './ordered-scan.ts';
import {
  type CalculationRead,
  calculationPageReader,
  countPage,
  EmptyOrderError,
  NO_PROGRESS,
  outcomeOf,
  type Progress,
  progressSchema,
  type ReadPage,
  refuseStall,
  ScanError,
  withReported,
} from './pages.ts';

type CalculationScanOptions = Parameters<typeof calculationPageReader>[0] & {
  readonly limit: number;
};

/** Schema of the position of a `calculationScan`. */
export const calculationPosition: z.ZodMiniType<RereadPosition<Progress, null>> = rereadPosition(
  progressSchema,
  z.null(),
);

/**
 * Scans all calculations, in the order of ids. It orders by `created` instead if the platform refuses the first request
 * (400), keeps failing (5xx), or lists no rows even though it reports records. If a response is not in that order, or
 * the scan makes no progress, it uses no order at all. Such a scan is never proved complete. If the platform reported
 * more records than it sent, everything is read again, at most three times in total. Throws `PlatformError`, and
 * `ScanError` if no order makes progress.
 */
export const calculationScan = (options: CalculationScanOptions): Scan<RereadPosition<Progress, null>> =>
  rereading({ read: readOnce(options), judge });

/** Judges a read. The order proves a read complete only if responses are current. */
function judge({
  result: { unnamed, ...result },
  records,
  isLast,
}: ReadEnd<CalculationRead, null>): Judgement<ScanOutcome, null> {
  if (result.consistency !== 'proved' || !isShort(records + unnamed, result.totals))
    return { kind: 'ended', outcome: result };
  return isLast ? { kind: 'ended', outcome: { ...result, ...UNVERIFIED } } : { kind: 'again', memo: null };
}

/**
 * Whether an error suggests that the platform does not support the requested order: it refuses, fails, or lists no rows
 * even though it reports records.
 */
const lacksOrder = (error: unknown): boolean =>
  error instanceof EmptyOrderError || isBadRequest(error) || isServerError(error);

function readOnce({ limit, ...options }: CalculationScanOptions) {
  return async function* ({
    from = NO_PROGRESS,
    ...start
  }: ScanStart<Progress>): AsyncGenerator<ScanStep<Progress>, CalculationRead, undefined> {
    let [position, isOrdered, isFirst] = [from, from.round === 0, from === NO_PROGRESS];
    for (;;) {
      const read = calculationPageReader(options, position.field);
      const readPage: ReadPage = async (request) => {
        const page = await read(request);
        isFirst &&= page.received === 0;
        return page;
      };
      try {
        const scan = isOrdered ? orderedScan : unorderedScan;
        return yield* scan({ readPage, limit }, { ...start, from: position });
      } catch (error) {
        if (isFirst && position.field === 'id' && lacksOrder(error))
          position = { ...NO_PROGRESS, field: 'created' };
        else if (isOrdered && error instanceof ScanError) isOrdered = false;
        else throw error;
      }
    }
  };
}

/*
 * Without an order, a lost row looks like a row that never existed. So a round reads all rows up to an empty page,
 * taking each id once, and rounds are repeated until one finds nothing new. A row that one round missed, because rows
 * were deleted or came in another order, most likely appears in the next. This is not a proof.
 */

/** How many rounds there are at most, even if each finds new rows. */
const MAX_ROUNDS = 4;

/**
 * Whether a round has read more than twice the rows that were reported at the start, because the list grows as fast as
 * it is read. The rest is left to the next run.
 */
const isRunaway = ({ next, totals: { start } }: Progress): boolean =>
  start !== null && start > 0 && next > 2 * start;

/**
 * Reads all rows in the order in which they arrive. Takes each id once, and skips ids that the run already has. Memory
 * holds all ids. After an ordered scan, the first step yields only a position, so that a resumed run does not try an
 * order again. Throws `ScanError`.
 */
export async function* unorderedScan(
  { readPage, limit }: Parameters<typeof orderedScan>[0],
  { from, signal, readBackKeys }: ScanStart<Progress> & { readonly from: Progress },
): AsyncGenerator<ScanStep<Progress>, CalculationRead, undefined> {
  let position = from;
  if (from.round === 0) {
    position = { ...NO_PROGRESS, field: from.field, round: 1 };
    yield { batch: emptyBatch, position, total: null };
  }
  const taken = new Set<string>();
  for await (const keys of readBackKeys()) for (const key of keys) taken.add(key);
  while (position.round <= MAX_ROUNDS) {
    refuseStall(position);
    const page = await readPage({ ascending: true, offset: position.next, limit, signal });
    const { keys } = page;
    const fresh: number[] = [];
    for (const [row, key] of keys.entries()) if (taken.size < taken.add(key).size) fresh.push(row);
    const next = position.next + page.received;
    const isNew = position.isNew || fresh.length > 0;
    position = { ...countPage(withReported(position, page), fresh.length), next, isNew };
    if (fresh.length > 0) yield { batch: page.batchOf(fresh), position, total: position.totals.end };
    if (page.received > 0 && !isRunaway(position)) continue;
    if (!isNew) break;
    position = { ...position, round: position.round + 1, next: 0, isNew: false, idle: 0 };
  }
  return outcomeOf(position, 'none', UNVERIFIED);
}

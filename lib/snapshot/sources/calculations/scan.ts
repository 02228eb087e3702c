import * as z from 'zod/mini';
import { type Scan, type ScanOutcome, type ScanStart, type ScanStep, UNPROVED } from '../../scan.ts';
import { isBadRequest, isServerError } from '../fan-out.ts';
import {
  type Judgement,
  type ReadEnd,
  type RereadPosition,
  rereading,
  rereadPosition,
} from '../rereading.ts';
import { orderedScan } from './ordered-scan.ts';
import { calculationPageReader, type PageReaderOptions, type ReadPage } from './pages.ts';
import {
  type CalculationRead,
  EmptyOrderError,
  NO_PROGRESS,
  type Progress,
  progressSchema,
  ScanError,
} from './progress.ts';
import { unorderedScan } from './unordered-scan.ts';

export type CalculationScanOptions = PageReaderOptions & {
  readonly limit: number;
};

export const calculationPosition: z.ZodMiniType<RereadPosition<Progress, null>> = rereadPosition(
  progressSchema,
  z.null(),
);

/**
 * Reads all calculations: in the order of ids; by `created` if the platform refuses the very first request (400), keeps
 * failing (5xx), or lists nothing although it reports records; and
 * in no order at all, never proved, once a response contradicts the order or it leads nowhere: what was taken is then
 * read from the parts of the run. Everything is read again, at most three times in all, if the platform reported more
 * records than it sent. Throws `PlatformError`, and `ScanError` if no order makes progress.
 */
export const calculationScan = (options: CalculationScanOptions): Scan<RereadPosition<Progress, null>> =>
  rereading({ read: readOnce(options), judge });

/** A proof by order assumes current responses. Both totals above what was read betray that one was not. */
function judge({
  result: { unnamed, ...result },
  records,
  isLast,
}: ReadEnd<CalculationRead, null>): Judgement<ScanOutcome, null> {
  const { start, end } = result.totals;
  const isShort = start !== null && end !== null && records + unnamed < Math.min(start, end);
  if (result.consistency !== 'proved' || !isShort) return { kind: 'ended', outcome: result };
  return isLast ? { kind: 'ended', outcome: { ...result, ...UNPROVED } } : { kind: 'again', memo: null };
}

/** True if the platform may not sort by what was asked for: it refuses, fails, or lists nothing although it has records. */
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

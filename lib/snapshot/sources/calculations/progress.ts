import * as z from 'zod/mini';
import { PlatformError } from '../../../platform/index.ts';
import { searchCalculations } from '../../../platform/operations/search-calculations.ts';
import { type Claim, provedIf, type ScanOutcome, totalsSchema } from '../../scan.ts';
import type { CalculationPage, PageRequest } from './pages.ts';

/** The rows are not in the requested order, or the scan makes no progress: what was read may be incomplete. */
export class ScanError extends Error {
  override readonly name: string = 'ScanError';
}

/** A response contradicts the requested order. The rows can still be read, without an order. */
export class OrderError extends ScanError {
  override readonly name = 'OrderError';
}

/** How far a scan by offset has progressed, whatever its order; plain JSON. The rows taken are in the parts of the run. */
export const progressSchema = z.object({
  /** The offset to continue from; rows may have slid below it since. */
  next: z.number(),
  /** The number of pages read. */
  pages: z.number(),
  /** The number of pages since one brought something new. */
  idle: z.number(),
  /** True if a page stayed degraded. */
  degraded: z.boolean(),
  totals: totalsSchema,
});

export type Progress = z.infer<typeof progressSchema>;

export const NO_PROGRESS: Progress = {
  next: 0,
  pages: 0,
  idle: 0,
  degraded: false,
  totals: { start: null, end: null },
};

/** The position with what a page reports about the whole list, whether or not anything of it is taken. */
export function withReported<Position extends Progress>(
  position: Position,
  { degraded, total }: CalculationPage,
): Position {
  const { start, end } = position.totals;
  return {
    ...position,
    degraded: position.degraded || degraded,
    totals: { start: start ?? total, end: total ?? end },
  };
}

/** The position after a page with so many new rows. */
export const counted = <Position extends Progress>(position: Position, fresh: number): Position => ({
  ...position,
  pages: position.pages + 1,
  idle: fresh > 0 ? 0 : position.idle + 1,
});

/** The position a step further back, twice as far each time, after a page whose seam is not proved. */
export const steppedBack = <Position extends Progress & { stepBack: number }>(
  position: Position,
): Position => ({ ...counted(position, 0), stepBack: Math.max(1, position.stepBack * 2) });

/** More pages than any real list has: 14 hours at two a second. */
const MOST_PAGES = 100_000;

/** How many pages may bring nothing new, beyond as many as were read before, which a step back may read again. */
const IDLE_PAGES = 64;

/** Bounds the requests. Throws `ScanError` if the scan makes no progress, and `PlatformError` of kind `endless`. */
export function refuseStall({ pages, idle, next }: Progress): void {
  if (pages >= MOST_PAGES) {
    const context = { operation: searchCalculations.name, about: 'calculations', attempts: 1 };
    throw new PlatformError({ kind: 'endless', pages }, context);
  }
  if (idle <= IDLE_PAGES + (pages - idle)) return;
  throw new ScanError(`the scan made no progress: ${idle} pages up to row ${next} brought nothing new`);
}

/** Throws `OrderError` unless each value of a page may follow the one before it. */
export function refuseDisorder<Value>(
  values: readonly Value[],
  { ascending, offset }: Pick<PageRequest, 'ascending' | 'offset'>,
  { of, mayFollow }: { readonly of: string; readonly mayFollow: (value: Value, before: Value) => boolean },
): void {
  const at = values.findIndex((value, index) => {
    const before = values[index - 1];
    return before !== undefined && !(ascending ? mayFollow(value, before) : mayFollow(before, value));
  });
  if (at < 0) return;
  const order = ascending ? 'ascending' : 'descending';
  throw new OrderError(
    `the platform did not keep to the ${order} order of ${of}: ${values[at]} came after ${values[at - 1]} at row ${offset + at}`,
  );
}

/** The outcome of a scan whose order proves the claim, unless a page stayed degraded. */
export const outcomeOf = ({ degraded, totals }: Progress, order: string, claim: Claim): ScanOutcome => ({
  ...(degraded ? provedIf(false, []) : claim),
  totals,
  order,
  refused: degraded ? ['degraded'] : [],
});

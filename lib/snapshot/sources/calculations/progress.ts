import * as z from 'zod/mini';
import { PlatformError } from '../../../platform/index.ts';
import { searchCalculations } from '../../../platform/operations/index.ts';
import { type Claim, type ScanOutcome, totalsSchema, UNPROVED } from '../../scan.ts';
import type { CalculationPage } from './pages.ts';

/** A response contradicts the requested order, or the scan makes no progress: what was read may be incomplete. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** The platform lists nothing in the requested order although it reports records. */
export class EmptyOrderError extends ScanError {}

/** How far one read of all calculations has progressed; plain JSON. The rows taken are in the parts of the run. */
export const progressSchema = z.object({
  field: z.enum(['id', 'created']),
  /** The highest value that existed when the scan began; null while it is unknown, or if the list was empty then. */
  top: z.nullable(z.union([z.string(), z.number()])),
  /** 0 while the platform keeps to that order; then the number of the round in which all rows are read, from 1 on. */
  round: z.number(),
  /** True if an unordered round has brought something new. */
  isNew: z.boolean(),
  /** The offset to continue from; rows may have slid below it since. */
  next: z.number(),
  /** How far below it the next page starts, since the seam of the last one was not proved. */
  stepBack: z.number(),
  /** In order: the highest value taken, as an id or in epoch milliseconds, and all ids taken with that value. */
  last: z.nullable(z.object({ value: z.union([z.string(), z.number()]), ids: z.array(z.string()) })),
  pages: z.number(),
  /** The number of pages since one brought something new. */
  idle: z.number(),
  /** How many rows without an id came, some of them twice: pages overlap. */
  unnamed: z.number(),
  /** How many pages stayed degraded, each time that they were read. */
  degradedPages: z.number(),
  totals: totalsSchema,
});

export type Progress = z.infer<typeof progressSchema>;

export const NO_PROGRESS: Progress = {
  field: 'id',
  top: null,
  round: 0,
  isNew: false,
  next: 0,
  stepBack: 0,
  last: null,
  pages: 0,
  idle: 0,
  unnamed: 0,
  degradedPages: 0,
  totals: { start: null, end: null },
};

/** The position with what a page reports about the whole list, whether or not anything of it is taken. */
export function withReported(position: Progress, page: CalculationPage): Progress {
  const { degraded, total, keys, received } = page;
  const { start, end } = position.totals;
  return {
    ...position,
    unnamed: position.unnamed + received - keys.length,
    degradedPages: position.degradedPages + (degraded ? 1 : 0),
    totals: { start: start ?? total, end: total ?? end },
  };
}

export const counted = (position: Progress, fresh: number): Progress => ({
  ...position,
  pages: position.pages + 1,
  idle: fresh > 0 ? 0 : position.idle + 1,
});

/** More pages than any real list has: 14 hours at two a second. */
const MAX_PAGES = 100_000;

/** How many pages may bring nothing new, beyond as many as were read before, which a step back may read again. */
const IDLE_PAGES = 32;

/** Bounds the requests. Throws `ScanError` if the scan makes no progress, and `PlatformError` of kind `endless`. */
export function refuseStall({ pages, idle, next }: Progress): void {
  if (pages >= MAX_PAGES) {
    const context = { operation: searchCalculations.name, about: 'calculations', attempts: 1 };
    throw new PlatformError({ kind: 'endless', pages }, context);
  }
  if (idle <= IDLE_PAGES + (pages - idle)) return;
  throw new ScanError(`the scan made no progress: ${idle} pages up to row ${next} brought nothing new`);
}

/** How a read of all calculations ended. `unnamed`: how many rows lacked an id, of which none is a record. */
export type CalculationRead = ScanOutcome & { readonly unnamed: number };

/** The outcome of a read whose order proves the claim, unless a page stayed degraded. */
export const outcomeOf = (
  { degradedPages, totals, unnamed }: Progress,
  order: string,
  claim: Claim,
): CalculationRead => ({
  ...(degradedPages > 0 ? UNPROVED : claim),
  degradedPages,
  totals,
  order,
  refused: degradedPages > 0 ? ['degraded'] : [],
  unnamed,
});

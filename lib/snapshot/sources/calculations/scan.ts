import * as z from 'zod/mini';
import { provedIf, type Scan, type ScanOutcome, type ScanStart, type ScanStep } from '../../scan.ts';
import { mappedSteps } from '../mapped-steps.ts';
import { isBadRequest } from '../refused-calls.ts';
import {
  type Judgement,
  type ReadEnd,
  type RereadPosition,
  rereading,
  rereadPosition,
} from '../rereading.ts';
import { type CreatedPosition, createdPosition, createdScan } from './created-scan.ts';
import { type OffsetPosition, offsetPosition, offsetScan } from './offset-scan.ts';
import { calculationPageReader, type PageReaderOptions, type ReadPage, type SortField } from './pages.ts';
import { OrderError, ScanError } from './progress.ts';
import { type UnorderedPosition, unorderedPosition, unorderedScan } from './unordered-scan.ts';

export type CalculationScanOptions = PageReaderOptions & {
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
};

/** How far a scan of calculations has progressed; plain JSON. */
export type CalculationPosition = RereadPosition<PositionInOrder, null>;

/** How far one read has progressed, by the order in which it reads. */
const positionInOrder = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('id'), at: offsetPosition }),
  z.object({ mode: z.literal('created'), at: createdPosition }),
  /** `order` is the one that is requested and that the platform did not keep to. */
  z.object({ mode: z.literal('unordered'), order: z.enum(['id', 'created']), at: unorderedPosition }),
]);

type PositionInOrder = z.infer<typeof positionInOrder>;

export const calculationPosition: z.ZodMiniType<CalculationPosition> = rereadPosition(
  positionInOrder,
  z.null(),
);

/**
 * Reads all calculations: in the order of ids; by `created` if the platform responds 400 to the very first request; and
 * in no order at all, each id once and never proved, once a response contradicts the requested order. An ordered scan
 * does not remember ids, so what it took is then read from the parts of the run.
 *
 * Everything is read again, at most three times in all, if the platform reported more records than it sent, or if the
 * scan made no progress. Throws `PlatformError`, and `ScanError` if no read made progress.
 */
export const calculationScan = (options: CalculationScanOptions): Scan<CalculationPosition> =>
  rereading({
    read: readInOrder(options),
    judge,
    isWorthRereading: (error) => error instanceof ScanError,
  });

/**
 * A proof by order assumes that each response is current. Both totals above what was read betray that one was not: a
 * replica lagged behind, or a record vanished while it was being updated.
 */
function judge({ result, records, isLast }: ReadEnd<ScanOutcome, null>): Judgement<ScanOutcome, null> {
  const { start, end } = result.totals;
  const isShort = start !== null && end !== null && records < Math.min(start, end);
  if (result.consistency !== 'proved' || !isShort) return { kind: 'ended', outcome: result };
  return isLast
    ? { kind: 'ended', outcome: { ...result, ...provedIf(false, []) } }
    : { kind: 'again', memo: null };
}

/** Where one read begins: in an order, at a position or from its beginning. */
type Beginning =
  | { readonly mode: 'id'; readonly at?: OffsetPosition }
  | { readonly mode: 'created'; readonly at?: CreatedPosition }
  | { readonly mode: 'unordered'; readonly order: SortField; readonly at?: UnorderedPosition };

/** One read. */
function readInOrder(options: CalculationScanOptions): Scan<PositionInOrder> {
  return async function* scan(start) {
    let from: Beginning = start.from ?? { mode: 'id' };
    let isFirst = start.from === undefined;
    for (;;) {
      const read = calculationPageReader(options, from.mode === 'unordered' ? from.order : from.mode);
      const readPage: ReadPage = async (request) => {
        const page = await read(request);
        isFirst = false;
        return page;
      };
      try {
        return yield* stepsFrom(from, { readPage, limit: options.limit }, start);
      } catch (error) {
        if (error instanceof OrderError && from.mode !== 'unordered')
          from = { mode: 'unordered', order: from.mode };
        else if (isFirst && from.mode === 'id' && isBadRequest(error)) from = { mode: 'created' };
        else throw error;
      }
    }
  };
}

/** The steps of one order. */
function stepsFrom(
  from: Beginning,
  options: { readonly readPage: ReadPage; readonly limit: number },
  start: ScanStart<PositionInOrder>,
): AsyncGenerator<ScanStep<PositionInOrder>, ScanOutcome, undefined> {
  switch (from.mode) {
    case 'id':
      return mappedSteps(offsetScan(options)({ ...start, from: from.at }), (step) => ({
        ...step,
        position: { mode: 'id', at: step.position },
      }));
    case 'created':
      return mappedSteps(createdScan(options)({ ...start, from: from.at }), (step) => ({
        ...step,
        position: { mode: 'created', at: step.position },
      }));
    case 'unordered':
      return mappedSteps(unorderedScan(options)({ ...start, from: from.at }), (step) => ({
        ...step,
        position: { mode: 'unordered', order: from.order, at: step.position },
      }));
    default:
      return from satisfies never;
  }
}

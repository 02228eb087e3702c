import * as z from 'zod/mini';
import type { Call } from '../../../platform/index.ts';
import { provedIf, type Scan, type ScanOutcome, type ScanStart, type ScanStep } from '../../scan.ts';
import { isBadRequest } from '../bad-request.ts';
import {
  type Judgement,
  type ReadEnd,
  type RereadPosition,
  rereading,
  rereadPosition,
} from '../rereading.ts';
import { type CreatedPosition, createdPosition } from './created-position.ts';
import { createdScan } from './created-scan.ts';
import { type OffsetPosition, offsetPosition, offsetScan } from './offset-scan.ts';
import { type CalculationSelection, calculationPageReader } from './pages.ts';
import { OrderError, ScanError } from './scan-error.ts';
import { sortedPageReader } from './sorted-pages.ts';
import { type UnorderedPosition, unorderedPosition, unorderedScan } from './unordered-scan.ts';

export type CalculationScanOptions = {
  readonly call: Call;
  readonly selection: CalculationSelection;
  /** How many rows each page requests, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** How far a scan of calculations has progressed; plain JSON. */
export type CalculationPosition = RereadPosition<PositionInOrder, null>;

/** How far one read has progressed, by the order in which it reads. */
type PositionInOrder =
  | { readonly mode: 'id'; readonly at: OffsetPosition }
  | { readonly mode: 'created'; readonly at: CreatedPosition }
  /** `order` is the one that is requested and that the platform did not keep to. */
  | { readonly mode: 'unordered'; readonly order: SortField; readonly at: UnorderedPosition };

type SortField = 'id' | 'created';

const positionInOrder: z.ZodMiniType<PositionInOrder> = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('id'), at: offsetPosition }),
  z.object({ mode: z.literal('created'), at: createdPosition }),
  z.object({ mode: z.literal('unordered'), order: z.enum(['id', 'created']), at: unorderedPosition }),
]);

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

/** One read. */
function readInOrder(options: CalculationScanOptions): Scan<PositionInOrder> {
  return async function* scan(start) {
    const { from } = start;
    if (from?.mode === 'unordered')
      return yield* scanUnordered(options, { ...start, from: from.at }, from.order);
    const byId = from?.mode === 'created' ? REFUSED : yield* scanById(options, { ...start, from: from?.at });
    const at = from?.mode === 'created' ? from.at : undefined;
    const last = byId.kind === 'refused' ? yield* scanByCreated(options, { ...start, from: at }) : byId;
    if (last.kind === 'ended') return last.outcome;
    return yield* scanUnordered(options, { ...start, from: undefined }, last.order);
  };
}

/** How an ordered scan ended: complete, or because the platform refused the order or did not keep to it. */
type Ended = { readonly kind: 'ended'; readonly outcome: ScanOutcome };
type Refused = { readonly kind: 'refused' };
type Unordered = { readonly kind: 'unordered'; readonly order: SortField };

type Steps<Result> = AsyncGenerator<ScanStep<PositionInOrder>, Result, undefined>;

const REFUSED: Refused = { kind: 'refused' };

async function* scanById(
  { call, selection, limit, sleep }: CalculationScanOptions,
  start: ScanStart<OffsetPosition>,
): Steps<Ended | Refused | Unordered> {
  const read = calculationPageReader(call, selection);
  let isFirst = start.from === undefined;
  const readPage: typeof read = async (request) => {
    const page = await read(request);
    isFirst = false;
    return page;
  };
  try {
    const steps = offsetScan({ readPage, limit, sleep })(start);
    const outcome = yield* tagged(steps, (at) => ({ mode: 'id', at }));
    return { kind: 'ended', outcome };
  } catch (error) {
    if (error instanceof OrderError) return { kind: 'unordered', order: 'id' };
    if (isFirst && isBadRequest(error)) return REFUSED;
    throw error;
  }
}

async function* scanByCreated(
  { call, selection, limit, sleep }: CalculationScanOptions,
  start: ScanStart<CreatedPosition>,
): Steps<Ended | Unordered> {
  try {
    const steps = createdScan({ readPage: sortedPageReader(call, selection, 'created'), limit, sleep })(
      start,
    );
    const outcome = yield* tagged(steps, (at) => ({ mode: 'created', at }));
    return { kind: 'ended', outcome };
  } catch (error) {
    if (error instanceof OrderError) return { kind: 'unordered', order: 'created' };
    throw error;
  }
}

async function* scanUnordered(
  { call, selection, limit, sleep }: CalculationScanOptions,
  start: ScanStart<UnorderedPosition>,
  order: SortField,
): Steps<ScanOutcome> {
  const readPage = sortedPageReader(call, selection, order);
  const steps = unorderedScan({ readPage, limit, sleep })(start);
  return yield* tagged(steps, (at) => ({ mode: 'unordered', order, at }));
}

/** The same steps with their positions tagged. */
async function* tagged<At>(
  steps: AsyncGenerator<ScanStep<At>, ScanOutcome, undefined>,
  tag: (at: At) => PositionInOrder,
): Steps<ScanOutcome> {
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done) return value;
      yield { ...value, position: tag(value.position) };
    }
  } finally {
    // A caller that stops early also ends the steps below.
    await steps.return(undefined as never);
  }
}

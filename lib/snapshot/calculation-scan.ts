import type { Call } from '../platform/call.ts';
import { PlatformError } from '../platform/platform-error.ts';
import { type CalculationSelection, calculationPageReader } from './calculation-pages.ts';
import type { CreatedPosition } from './created-position.ts';
import { createdScan } from './created-scan.ts';
import { type OffsetPosition, OrderError, offsetScan } from './offset-scan.ts';
import type { Scan, ScanOutcome, ScanStep } from './scan.ts';
import { sortedPageReader } from './sorted-pages.ts';
import { cannotGoOn, type UnorderedPosition, unorderedScan } from './unordered-scan.ts';

export type CalculationScanOptions = {
  readonly call: Call;
  readonly selection: CalculationSelection;
  /** Rows a page asks for, 1 to 5000; the platform may send fewer. */
  readonly limit: number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};

/** How far a scan of calculations has come, by the order in which it reads them; plain JSON. */
export type CalculationPosition =
  | { readonly mode: 'id'; readonly at: OffsetPosition }
  | { readonly mode: 'created'; readonly at: CreatedPosition }
  | { readonly mode: 'unordered'; readonly at: UnorderedPosition };

/**
 * Reads all calculations: in the order of ids; by `created` if the very first request is answered 400; and in no order
 * at all, each id once and never proved, once an answer contradicts the order that was asked. Throws `PlatformError`,
 * and `ScanError` where the scan comes no further, or where a run without an order is to be gone on with: its ids are
 * known only to the process that took them.
 */
export function calculationScan(options: CalculationScanOptions): Scan<CalculationPosition> {
  return async function* scan({ from, signal }) {
    if (from?.mode === 'unordered') throw cannotGoOn();
    const taken: TakenIds = [];
    const byId =
      from?.mode === 'created' ? REFUSED : yield* scanById(options, { from: from?.at, signal }, taken);
    if (byId.kind === 'ended') return byId.outcome;
    const at = from?.mode === 'created' ? from.at : undefined;
    const last = byId.kind === 'refused' ? yield* scanByCreated(options, { from: at, signal }, taken) : byId;
    if (last.kind === 'ended') return last.outcome;
    if (from !== undefined) throw cannotGoOn(last.error);
    const readPage = sortedPageReader(options.call, options.selection, last.order);
    const ids = new Set(taken.flatMap((keys) => keys.split(' ')));
    const steps = unorderedScan({ ...options, readPage, taken: ids })({ from: undefined, signal });
    return yield* tagged(steps, (position) => ({ mode: 'unordered', at: position }));
  };
}

/**
 * The ids that this process took, a text for each step with spaces between them: needed only if the order is lost, and
 * until then a fraction of what a set would hold. Memory grows by the digits of the ids all the same.
 */
type TakenIds = string[];

/** How a scan in an order ended: whole, or because the order is refused, or because it is not kept. */
type Ended = { readonly kind: 'ended'; readonly outcome: ScanOutcome };
type Refused = { readonly kind: 'refused' };
type Unordered = { readonly kind: 'unordered'; readonly order: 'id' | 'created'; readonly error: OrderError };

type Steps<Result> = AsyncGenerator<ScanStep<CalculationPosition>, Result, undefined>;
type Start<At> = { readonly from: At | undefined; readonly signal: AbortSignal | undefined };

const REFUSED: Refused = { kind: 'refused' };

async function* scanById(
  { call, selection, limit, sleep }: CalculationScanOptions,
  start: Start<OffsetPosition>,
  taken: TakenIds,
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
    const outcome = yield* tagged(steps, (at) => ({ mode: 'id', at }), taken);
    return { kind: 'ended', outcome };
  } catch (error) {
    if (error instanceof OrderError) return { kind: 'unordered', order: 'id', error };
    if (isFirst && isBadRequest(error)) return REFUSED;
    throw error;
  }
}

async function* scanByCreated(
  { call, selection, limit, sleep }: CalculationScanOptions,
  start: Start<CreatedPosition>,
  taken: TakenIds,
): Steps<Ended | Unordered> {
  try {
    const steps = createdScan({ readPage: sortedPageReader(call, selection, 'created'), limit, sleep })(
      start,
    );
    const outcome = yield* tagged(steps, (at) => ({ mode: 'created', at }), taken);
    return { kind: 'ended', outcome };
  } catch (error) {
    if (error instanceof OrderError) return { kind: 'unordered', order: 'created', error };
    throw error;
  }
}

/** The same steps with their positions tagged; the ids they take are noted. */
async function* tagged<At>(
  steps: AsyncGenerator<ScanStep<At>, ScanOutcome, undefined>,
  tag: (at: At) => CalculationPosition,
  taken?: TakenIds,
): Steps<ScanOutcome> {
  try {
    for (;;) {
      const { done, value } = await steps.next();
      if (done) return value;
      taken?.push(value.batch.keys.join(' '));
      yield { ...value, position: tag(value.position) };
    }
  } finally {
    // A caller who leaves early ends what is under way below, too.
    await steps.return(undefined as never);
  }
}

function isBadRequest(error: unknown): boolean {
  return error instanceof PlatformError && error.failure.kind === 'status' && error.failure.status === 400;
}

import { TableError } from '../table/table-error.ts';
import {
  BLOCK_MS,
  type Budget,
  type BudgetItem,
  blockLength,
  blockSize,
  lineSpacing,
  type Reservation,
} from './budget.ts';
import type { BudgetView } from './budget-view.ts';
import { dueAtMs } from './gcra.ts';
import { blockOf, type HeldBlock } from './held-block.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import type { Clock, SlotRequest } from './slots.ts';
import { addTally, noTally, type WorkerTally } from './tally.ts';

export type LineOptions = {
  readonly item: BudgetItem;
  /** Requests a second of the whole fleet. */
  readonly rate: number;
  readonly maxWaitMs: number;
  /** `one`: one slot at a time; `block`: as many as can be used within 250 ms. */
  readonly greed: 'one' | 'block';
  /** Epoch milliseconds: the workers' clocks should agree. */
  readonly clock: Clock;
};

/** The line, what a worker knows about it, and what the worker did. */
export type Line = LineOptions & { readonly view: BudgetView; readonly tally: WorkerTally };

type BlockRequest = SlotRequest & {
  /** How much longer than recent responses to reserve ahead, and how many calls will follow those that wait. */
  readonly outlook: () => { readonly aheadMs: number; readonly followers: number };
};

/** How old a view of the budget may be to refuse a call without another look, in milliseconds. */
export const REFUSED_MS = 1_000;

/** How soon to check a paused budget again: for a call that waits here, and for one that is refused and comes back. */
const PAUSED_POLL_MS = 5_000;
const PAUSED_DELAY_MS = 60_000;

/** A refused write was overtaken by another worker's: rare twice in a row. */
const MOST_ROUNDS = 10;

/**
 * Reserves a block at the end of the line. `hold` is called as soon as the table responds: a caller that computes when
 * a call may leave must not find the line advanced and the block missing. Throws `PaceWaitError` if the reservation is
 * refused, what the item throws, and `TableError` if other workers were faster each time.
 */
export type ReserveBlock = (request: BlockRequest, hold: Hold) => Promise<void>;

type Hold = (block: HeldBlock) => void;

/** Makes the function by which one worker reserves blocks. */
export function createReserver(line: Line): ReserveBlock {
  const { view } = line;
  let lastKind: Reservation['kind'] = 'idle';
  return async (request, hold) => {
    let budget = await view.known();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      request.signal?.throwIfAborted();
      budget = await granting(budget, request, line);
      const plan = planned(budget, request, { line, lastKind });
      if (await write(plan, line, hold)) {
        lastKind = plan.reservation.kind;
        return;
      }
      budget = await view.look();
    }
    throw new TableError(`reserve slots ${MOST_ROUNDS} times`, { kind: 'busy', code: 'overtaken each time' });
  };
}

/** The budget once it is not paused. Throws `PaceWaitError` if it has no slot soon enough. */
async function granting(start: Budget, { calledAtMs, signal }: SlotRequest, line: Line): Promise<Budget> {
  const { view, clock, maxWaitMs } = line;
  const isRefusal = start.pausedAtMs !== undefined || waitFor(start, calledAtMs, line) > maxWaitMs;
  let budget = isRefusal && view.ageMs() > REFUSED_MS ? await view.look() : start;
  while (budget.pausedAtMs !== undefined) {
    if (maxWaitMs < Number.POSITIVE_INFINITY) throw new PaceWaitError(PAUSED_DELAY_MS, maxWaitMs, 'paused');
    await clock.sleep(PAUSED_POLL_MS, signal);
    budget = await view.look();
  }
  const waitMs = waitFor(budget, calledAtMs, line);
  if (waitMs > maxWaitMs) throw new PaceWaitError(waitMs, maxWaitMs);
  return budget;
}

const waitFor = (budget: Budget, calledAtMs: number, { rate, clock }: Line): number =>
  budget.tatMs === undefined ? 0 : dueAtMs(budget.tatMs, lineSpacing(rate, budget, clock.now())) - calledAtMs;

/** What one write requests, and the properties of its slots. */
type Plan = {
  readonly reservation: Omit<Reservation, 'tally'>;
  readonly size: number;
  readonly intervalMs: number;
  readonly toleranceMs: number;
  readonly requestedAtMs: number;
};

function planned(
  budget: Budget,
  { calledAtMs, demand, outlook }: BlockRequest,
  { line, lastKind }: { readonly line: Line; readonly lastKind: Reservation['kind'] },
): Plan {
  const { rate, greed, maxWaitMs, clock, view } = line;
  const { aheadMs, followers } = outlook();
  const requestedAtMs = clock.now();
  const { intervalMs, toleranceMs } = lineSpacing(rate, budget, requestedAtMs);
  const spanMs = greed === 'one' ? 0 : BLOCK_MS;
  const size = blockSize(demand(), { spanMs, intervalMs, followers });
  const fromMs = Math.ceil(requestedAtMs + view.leadMs() + aheadMs);
  const reservation = {
    kind: certainKind(budget, fromMs, view) ?? lastKind,
    fromMs,
    latestMs: calledAtMs + maxWaitMs + toleranceMs,
    blockMs: blockLength(size, intervalMs),
    incidents: budget.incidents,
    rate,
  };
  return { reservation, size, intervalMs, toleranceMs, requestedAtMs };
}

/** Writes a plan, and returns whether it was granted. The write also reports the part of the tally not yet reported. */
async function write(plan: Plan, { item, view, tally }: Line, hold: Hold): Promise<boolean> {
  const { reservation, size } = plan;
  const unreported = tally.takeUnreported();
  const reported = addTally(unreported, { ...noTally, granted: size });
  const written = await view
    .write(() => item.reserve({ ...reservation, tally: reported }))
    .catch((error: unknown) => {
      tally.giveBack(unreported);
      throw error;
    });
  if (written.kind === 'refused') {
    tally.giveBack(unreported);
    return false;
  }
  tally.addGranted(size);
  hold(blockBy(plan, written.budget));
  return true;
}

/** Which of the two writes will succeed, where that is certain: the line's end is known to be late, or was seen just now. */
function certainKind({ tatMs }: Budget, fromMs: number, view: BudgetView): Reservation['kind'] | undefined {
  if (tatMs !== undefined && tatMs >= fromMs) return 'busy';
  return view.ageMs() <= 2 * view.leadMs() ? 'idle' : undefined;
}

function blockBy({ reservation: { blockMs, incidents }, ...plan }: Plan, { tatMs = 0 }: Budget): HeldBlock {
  return blockOf({ ...plan, firstMs: tatMs - blockMs, incidents });
}

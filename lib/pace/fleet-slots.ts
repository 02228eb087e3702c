import { TableError } from '../table/table-error.ts';
import {
  addTally,
  BLOCK_MS,
  type Budget,
  type BudgetItem,
  blockLength,
  blockSize,
  emptyBudget,
  incidentOf,
  LATE_MS,
  lineSpacing,
  noTally,
  type Reservation,
  type Tally,
} from './budget.ts';
import { createBudgetView } from './budget-view.ts';
import { effectiveRate } from './effective-rate.ts';
import { dueAtMs } from './gcra.ts';
import type { Slot } from './pace.ts';
import { PaceWaitError } from './pace-wait-error.ts';
import type { Clock, SlotRequest, SlotSource } from './slots.ts';

export type FleetSlotsOptions = {
  readonly item: BudgetItem;
  /** Requests a second of the whole fleet. */
  readonly rate: number;
  readonly maxWaitMs: number;
  /** `one`: a slot at a time; `block`: as many as are of use within 250 ms. */
  readonly greed: 'one' | 'block';
  /** Epoch milliseconds: the workers' clocks should agree. */
  readonly clock: Clock;
};

export type FleetSlots = SlotSource & {
  /** Reserves a block unless one is held. Throws `PaceWaitError` if that is refused, and what the item throws. */
  reserve(request: SlotRequest): Promise<void>;
  /** Adds to what the next reservation tells of this worker. */
  note(tally: Partial<Tally>): void;
};

/** Slots that this worker alone may use. */
type Block = {
  /** Their times, ascending. */
  readonly slots: number[];
  readonly toleranceMs: number;
  readonly incidents: number;
  /** The budget was looked at shortly before they begin, and they stood. */
  readonly isFresh: boolean;
  readonly isBegun: boolean;
};

/** How old the last look at the budget may be when a block is begun, in milliseconds. */
const FRESH_MS = 250;

/** How old a refusal may be that is passed on without asking again, in milliseconds. */
const REFUSED_MS = 1_000;

/** How soon it is worth asking a paused budget again: for a call that stays, and for one that goes away. */
const PAUSED_POLL_MS = 5_000;
const PAUSED_DELAY_MS = 60_000;

/** By how much a miss lets the next slot be later, and a hit less late. */
const LATER = 2;
const LESS_LATE = 0.9;
const MOST_AHEAD_MS = 1_000;

/** A write that is refused was overtaken by another worker's: rare twice in a row. */
const MOST_ROUNDS = 10;

/** The slots of one worker out of the fleet's budget. All but `counts` throw what the item throws. */
export function createFleetSlots({ item, rate, maxWaitMs, greed, clock }: FleetSlotsOptions): FleetSlots {
  const view = createBudgetView(item, clock);
  let block: Block | undefined;
  let lastKind: Reservation['kind'] = 'idle';
  // A process whose timers are always late would miss every slot: each miss lets it be later, each hit less so.
  let lateMs = LATE_MS;
  // Answers that come too late for the first slot let the next be asked for further ahead.
  let aheadMs = 0;
  // Calls that came while the last block was used: as many will follow during the next.
  let [arrivedAtFirst, arrivedAtLast] = [0, 0];
  let [counted, untold] = [noTally, noTally];

  const note = (tally: Partial<Tally>) => {
    const more = { ...noTally, ...tally };
    [counted, untold] = [addTally(counted, more), addTally(untold, more)];
  };

  const waste = (slots: number) => {
    if (slots > 0) note({ wasted: slots });
  };

  /** Lets go of slots that are too old to be used, and tells how many. */
  const dropLate = (): number => {
    if (block === undefined) return 0;
    const left = block.slots.filter((slotMs) => slotMs + lateMs >= clock.now());
    const late = block.slots.length - left.length;
    waste(late);
    block = left.length === 0 ? undefined : { ...block, slots: left };
    return late;
  };

  const missed = (waitedFor: 'answer' | 'timer') => {
    if (waitedFor === 'timer') lateMs = Math.min(BLOCK_MS, lateMs * LATER);
    else aheadMs = Math.min(MOST_AHEAD_MS, Math.max(LATE_MS, aheadMs * LATER));
  };

  const dropAll = () => {
    waste(block?.slots.length ?? 0);
    block = undefined;
  };

  const waitFor = (budget: Budget, calledAtMs: number) =>
    budget.tatMs === undefined
      ? 0
      : dueAtMs(budget.tatMs, lineSpacing(rate, budget, clock.now())) - calledAtMs;

  /** The budget once it is not paused. Throws `PaceWaitError` if it, as it stands, has nothing soon enough. */
  const granting = async (start: Budget, { calledAtMs, signal }: SlotRequest): Promise<Budget> => {
    const isRefusal = start.pausedAtMs !== undefined || waitFor(start, calledAtMs) > maxWaitMs;
    let budget = isRefusal && view.ageMs() > REFUSED_MS ? await view.look() : start;
    while (budget.pausedAtMs !== undefined) {
      if (maxWaitMs < Number.POSITIVE_INFINITY) throw new PaceWaitError(PAUSED_DELAY_MS, maxWaitMs, 'paused');
      await clock.sleep(PAUSED_POLL_MS, signal);
      budget = await view.look();
    }
    const waitMs = waitFor(budget, calledAtMs);
    if (waitMs > maxWaitMs) throw new PaceWaitError(waitMs, maxWaitMs);
    return budget;
  };

  /** Which of the two writes will hold: certain where the line's end is known to be late, or was seen just now. */
  const kindFor = (budget: Budget, fromMs: number): Reservation['kind'] => {
    if (budget.tatMs !== undefined && budget.tatMs >= fromMs) return 'busy';
    return view.ageMs() <= 2 * view.leadMs() ? 'idle' : lastKind;
  };

  const tryReserve = async (budget: Budget, { calledAtMs, demand }: SlotRequest): Promise<boolean> => {
    const nowMs = clock.now();
    const { intervalMs, toleranceMs } = lineSpacing(rate, budget, nowMs);
    const spanMs = greed === 'one' ? 0 : BLOCK_MS;
    const followers = arrivedAtLast - arrivedAtFirst;
    const size = blockSize(demand(), { spanMs, intervalMs, followers });
    const blockMs = blockLength(size, intervalMs);
    const fromMs = Math.ceil(nowMs + view.leadMs() + aheadMs);
    const kind = kindFor(budget, fromMs);
    const told = untold;
    untold = noTally;
    const answer = await view
      .write(() =>
        item.reserve({
          kind,
          fromMs,
          latestMs: calledAtMs + maxWaitMs + toleranceMs,
          blockMs,
          incidents: budget.incidents,
          rate,
          tally: addTally(told, { ...noTally, granted: size }),
        }),
      )
      .catch((error: unknown) => {
        untold = addTally(untold, told);
        throw error;
      });
    if (answer.kind === 'refused') {
      untold = addTally(untold, told);
      return false;
    }
    lastKind = kind;
    counted = addTally(counted, { ...noTally, granted: size });
    const firstMs = (answer.budget.tatMs ?? 0) - blockMs;
    block = {
      slots: Array.from({ length: size }, (_, at) => firstMs + at * intervalMs),
      toleranceMs,
      incidents: budget.incidents,
      isFresh: firstMs - toleranceMs - nowMs <= FRESH_MS,
      isBegun: false,
    };
    return true;
  };

  const reserve = async (request: SlotRequest): Promise<void> => {
    if (block !== undefined) return;
    let budget = await view.known();
    for (let round = 0; round < MOST_ROUNDS; round += 1) {
      request.signal?.throwIfAborted();
      budget = await granting(budget, request);
      if (await tryReserve(budget, request)) return;
      budget = await view.look();
    }
    throw new TableError(`reserve slots ${MOST_ROUNDS} times`, { kind: 'busy', code: 'overtaken each time' });
  };

  /** Looks shortly before a block begins whether it still stands: a 429 or a pause since makes it void. */
  const freshen = async (held: Block, dueMs: number, signal: AbortSignal | undefined) => {
    const lookAtMs = dueMs - view.leadMs() - aheadMs;
    if (clock.now() < lookAtMs) await clock.sleep(lookAtMs - clock.now(), signal);
    // Where the table does not answer the slots stand all the same: the next reservation will tell.
    const budget = await view.look().catch(() => undefined);
    const stands =
      budget === undefined || (budget.incidents === held.incidents && budget.pausedAtMs === undefined);
    if (!stands) dropAll();
    else if (block !== undefined) block = { ...block, isFresh: true };
  };

  const use = (held: Block, { calledAtMs, demand }: SlotRequest): Slot => {
    const left = held.slots.slice(1);
    block = left.length === 0 ? undefined : { ...held, slots: left, isBegun: true };
    lateMs = Math.max(LATE_MS, lateMs * LESS_LATE);
    aheadMs *= LESS_LATE;
    arrivedAtLast = demand().arrived;
    if (!held.isBegun) arrivedAtFirst = arrivedAtLast;
    const atMs = clock.now();
    const waitedMs = atMs - calledAtMs;
    note({ used: 1, waitedMs: Math.round(waitedMs) });
    return { atMs, waitedMs, incidents: held.incidents };
  };

  return {
    reserve,
    note,
    async take(request) {
      // What nobody was there for is no miss.
      dropLate();
      for (let waitedFor: 'answer' | 'timer' = 'answer'; ; ) {
        request.signal?.throwIfAborted();
        if (dropLate() > 0) missed(waitedFor);
        const held: Block | undefined = block;
        const [slotMs] = held?.slots ?? [];
        if (held === undefined || slotMs === undefined) {
          waitedFor = 'answer';
          await reserve(request);
          continue;
        }
        const dueMs = slotMs - held.toleranceMs;
        if (held.isFresh && clock.now() >= dueMs) return use(held, request);
        waitedFor = held.isFresh ? 'timer' : 'answer';
        if (held.isFresh) await clock.sleep(dueMs - clock.now(), request.signal);
        else await freshen(held, dueMs, request.signal);
      }
    },
    dueAtMs(ahead) {
      const held = block?.slots ?? [];
      const budget = view.last() ?? emptyBudget;
      const { intervalMs, toleranceMs } = lineSpacing(rate, budget, clock.now());
      const atMs = held[ahead];
      if (atMs !== undefined) return atMs - toleranceMs;
      // What was known may have been made void by a 429.
      const endMs = view.ageMs() > REFUSED_MS ? clock.now() : (budget.tatMs ?? clock.now());
      return endMs - toleranceMs + (ahead - held.length) * intervalMs;
    },
    async throttled({ incidents, atMs }, retryAfterMs) {
      note({ throttled: 1 });
      const budget = await view.known();
      // A slot that is not of the line, but of the safe rate, tells its time only.
      const isOld =
        incidents === undefined ? atMs < (budget.lowered?.atMs ?? 0) : incidents < budget.incidents;
      if (isOld) return;
      const incident = incidentOf(budget, { rate, nowMs: clock.now(), retryAfterMs });
      const answer = await view.write(() => item.lower(incident));
      // Another worker's call met the same refusal, and it came first.
      if (answer.kind === 'refused') await view.look();
      dropAll();
    },
    counts: () => ({
      ...counted,
      effectiveRate: effectiveRate(rate, view.last()?.lowered, clock.now()),
    }),
  };
}

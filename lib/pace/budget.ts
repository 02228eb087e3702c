import type { OnDate } from '../table/index.ts';
import type { BreakerItem, OpenBreaker } from './breaker.ts';
import { effectiveSpacing } from './effective-rate.ts';
import { type Spacing, spacingFor } from './gcra.ts';
import type { Lowered } from './lowered.ts';
import type { Demand } from './slots.ts';
import { noTally, type Tally } from './tally.ts';

/*
 * The budget of a fleet: one line of slots that all workers calling the same platform host share. The time up to which
 * the line is reserved (the theoretical arrival time) moves forward only as slots are reserved, by the worker whose
 * write arrives first, and each reservation covers a stretch that nobody else has. So no slot is given out twice,
 * however much the workers' clocks differ: a worker's clock only shifts the calls that it makes itself, and a second of
 * the platform's time holds no more of the line than a second plus the difference between the clocks.
 *
 * Nobody starves. A reservation goes to the end of the line, and a worker has one block in it at a time, 250 ms at
 * most. So a newcomer, even a snapshot that takes one slot at a time, waits for one block of every other worker and no
 * longer, however many jobs they have waiting.
 */

/** The budget as its item holds it. Times are epoch milliseconds. */
export type Budget = {
  /** Slots are reserved up to this time; undefined before the first. */
  readonly tatMs: number | undefined;
  /** How many times the rate has been lowered, or the line begun again. */
  readonly incidents: number;
  /** What throttling left behind: every worker computes from it how much of the rate has recovered. */
  readonly lowered: Lowered | undefined;
  /** When an operator paused all calls; undefined if they are not paused. */
  readonly pausedAtMs: number | undefined;
  /** The configured rate of the worker that reserved last; undefined before the first. */
  readonly rate: number | undefined;
  /** Set while the platform is away; undefined if the breaker is closed. */
  readonly breaker: OpenBreaker | undefined;
  /** The longest that a call of any process waits for its slot, in milliseconds; undefined before the first. */
  readonly longestWaitMs: number | undefined;
  /** When a process that waits so long last said so. */
  readonly longestWaitAtMs?: number | undefined;
  /** What an operator has set as the fleet's rate: it counts where it is below the configured one. */
  readonly capRate: number | undefined;
  /** How much the calls of its workers may drift apart. Absent: as much as those of different machines. */
  readonly driftMs?: number | undefined;
  /** For people to read: sums over all workers. What a worker did since its last reservation is missing. */
  readonly tally: Tally;
};

/**
 * Where slots are reserved. `idle`: the line ends before `fromMs`, and they begin there. `busy`: it ends later, and they
 * begin at its end. `stray`: a wrong clock has moved it; it begins again at `fromMs`, throttling is forgotten, and slots
 * that were reserved before are void.
 * `probe`: one slot while the platform refuses, whatever the line. `restart`: a call has succeeded since the last 429, and the
 * line begins again at `fromMs`; refused if another worker was first to report a success, and if there was another probe.
 */
export type LineKind = 'idle' | 'busy' | 'stray' | 'probe' | 'restart';

/** Consecutive slots, requested by one write. */
export type Reservation = {
  readonly kind: LineKind;
  /** The earliest time that the first slot can be used. */
  readonly fromMs: number;
  /** The latest time that the first slot may have. */
  readonly latestMs: number;
  /** The length of the reserved stretch. */
  readonly blockMs: number;
  /** As last read by the worker: the rate must not have been lowered since. */
  readonly incidents: number;
  /** Replaces the longest wait of the item. Absent: it is no shorter than this worker's. */
  readonly longestWaitMs?: number;
  readonly rate: number;
  readonly tally: Tally;
  /** `probe` and `restart`: when the next probe may leave, as last read by the worker. */
  readonly probeMs?: number | undefined;
  /** `probe`: when the next one may leave after this one. */
  readonly nextProbeMs?: number | undefined;
};

/** A 429, as one write reports it. */
export type Incident = {
  /** How many times the rate had been lowered when the slot was granted; if it has been lowered since, nothing changes. */
  readonly incidents: number;
  /** When the line starts again. */
  readonly fromMs: number;
  readonly lowered: Lowered;
};

/** The outcome of a conditional write; a refused write changed nothing. */
export type BudgetWrite =
  | { readonly kind: 'written'; readonly budget: Budget }
  | { readonly kind: 'refused' };

/**
 * The item that a fleet shares. Each write is one conditional update. Throws `TableError` if the table cannot be
 * reached; the write may have been made all the same.
 */
export type BudgetItem = {
  /** Sees every write that got a response. */
  read(): Promise<Budget>;
  /** Refused if the line's end is not where `kind` says or is past `latestMs`, after an incident, and while paused. */
  reserve(reservation: Reservation): Promise<BudgetWrite>;
  lower(incident: Incident): Promise<BudgetWrite>;
  pause(atMs: number): Promise<Budget>;
  resume(): Promise<Budget>;
  /** Forgets all throttling: the line begins again at `fromMs`, and slots that were reserved before are void. */
  reset(fromMs: number): Promise<Budget>;
  /** Sets what the fleet may use at most, in requests a second; it counts where it is below the configured rate. */
  cap(rate: number): Promise<Budget>;
  /** Absent where responses have no `Date`. */
  readonly onDate?: OnDate;
};

/** The item with the breaker in it. */
export type HostItem = BudgetItem & { readonly breaker: BreakerItem };

export const emptyBudget: Budget = {
  tatMs: undefined,
  incidents: 0,
  lowered: undefined,
  pausedAtMs: undefined,
  breaker: undefined,
  rate: undefined,
  longestWaitMs: undefined,
  capRate: undefined,
  tally: noTally,
};

/** The longest that one block may be, in milliseconds: what is lost when a worker dies. */
export const BLOCK_MS = 250;

/** How long after its time a slot may be used: the spacing pays for it. Later calls would bunch with those that follow. */
export const LATE_MS = 10;

/** How much more the requests of different machines may drift apart than those of one. The spacing pays for it too. */
const MACHINES_DRIFT_MS = 10;

/** What a worker that is configured with this rate may use: the lower of its own rate and what an operator has set. */
export const cappedRate = (rate: number, { capRate }: Budget): number => Math.min(rate, capRate ?? rate);

/** Nothing but a wrong clock writes a time that is further ahead, in milliseconds: probes leave sooner. */
const WRONG_CLOCK_MS = 60_000;

/** How far ahead the line of callers that wait without limit may reach, in milliseconds. */
export const UNLIMITED_MS = 1_200_000;

/** The latest end of the line that reservations explain: none is granted to a call that would wait for longer. */
export const latestLineMs = (budget: Budget, maxWaitMs: number, nowMs: number): number =>
  nowMs +
  Math.max(longestWait(budget, nowMs), Number.isFinite(maxWaitMs) ? maxWaitMs : UNLIMITED_MS) +
  WRONG_CLOCK_MS;

/** The longest wait of the item; 0 once what was reserved by then is over. */
export const longestWait = ({ longestWaitMs = 0, longestWaitAtMs = 0 }: Budget, nowMs: number): number =>
  Math.abs(nowMs - longestWaitAtMs) <= longestWaitMs + WRONG_CLOCK_MS ? longestWaitMs : 0;

/** The budget, or, if a wrong clock has written into it, one without throttling, whose line nothing explains. */
export function believable(budget: Budget, nowMs: number): Budget {
  const { lowered } = budget;
  const { atMs = 0, refusedAtMs = 0, probeMs = 0, succeededMs = 0 } = lowered ?? {};
  const latestMs = Math.max(atMs, refusedAtMs, probeMs, succeededMs);
  if (latestMs <= nowMs + WRONG_CLOCK_MS) return budget;
  return { ...budget, lowered: undefined, tatMs: Number.POSITIVE_INFINITY };
}

/** The current spacing of the line, for a worker configured with this rate. */
export function lineSpacing(rate: number, budget: Budget, nowMs: number): Spacing {
  const { lowered } = budget;
  return effectiveSpacing(cappedRate(rate, budget), { lowered, nowMs, lateMs: paidMs(budget) });
}

/** The spacing of the line before throttling took anything of its rate. */
export const fullSpacing = (rate: number, budget: Budget): Spacing =>
  spacingFor(cappedRate(rate, budget), paidMs(budget));

/** What the spacing pays for: late calls, and clocks that drift. */
const paidMs = ({ driftMs = MACHINES_DRIFT_MS }: Budget): number => LATE_MS + driftMs;

/**
 * How many slots to request: one for each waiting call, and for the calls that will follow as many as will be ready in
 * time for theirs; at least one, and none beyond `spanMs`.
 */
export function blockSize(demand: Demand, { spanMs, intervalMs, followers }: BlockOptions): number {
  const { waiting, queued } = demand;
  const most = Math.max(1, Math.min(Math.floor(spanMs / intervalMs), waiting + queued + followers));
  let size = Math.min(most, Math.max(1, waiting));
  while (size < most && waiting + readyAgain(demand, { atMs: size * intervalMs, intervalMs }) > size)
    size += 1;
  return size;
}

/**
 * How many places in flight will have become free by then, and have a call that is ready to leave: of the calls that are
 * in flight now, as many as end soon enough, and those that left in the first slots of the block.
 */
function readyAgain(
  { waiting, concurrency, latencyMs, leadMs }: Demand,
  { atMs, intervalMs }: { readonly atMs: number; readonly intervalMs: number },
): number {
  const callMs = Math.max(1, latencyMs - leadMs);
  const inFlight = Math.max(0, concurrency - waiting);
  const ended = Math.floor(inFlight * Math.min(1, Math.max(0, atMs - leadMs) / callMs));
  const left = Math.max(0, Math.floor((atMs - leadMs - callMs) / intervalMs) + 1);
  return ended + left;
}

export type BlockOptions = {
  readonly spanMs: number;
  readonly intervalMs: number;
  /** Calls that arrived while the last block was being used. */
  readonly followers: number;
};

/**
 * The length of this many slots in milliseconds, rounded to the microsecond: the item adds it up exactly. Where calls
 * may leave later than the spacing pays for, the end of the block stays empty, so that no other worker's slot begins
 * before the last call of this block can have left.
 */
export const blockLength = (slots: number, intervalMs: number, lateMs: number): number =>
  Math.round((slots * intervalMs + Math.max(0, lateMs - LATE_MS)) * 1000) / 1000;

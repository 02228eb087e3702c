import { effectiveRate, type Lowered, lowerRate, pauseAfter429 } from './effective-rate.ts';
import { type Spacing, spacingFor } from './gcra.ts';
import type { Demand } from './slots.ts';
import { noTally, type Tally } from './tally.ts';

/*
 * The budget of a fleet: one line of slots that all workers of a platform's host stand in. The time up to which the
 * line is given away (the theoretical arrival time) only moves on as slots are reserved, by whoever's write comes
 * first, and each reservation is for a stretch that nobody else has. So however the clocks of the workers differ, no
 * slot is given twice: a worker's clock only displaces the calls that it makes, and a second of the platform's holds
 * no more of the line than a second and the difference of the clocks.
 *
 * Nobody starves. A reservation goes to the end of the line, and a worker has one block in it at a time, of 250 ms at
 * most. Whoever comes, be it a snapshot that takes one slot at a time, therefore waits for one block of every other
 * worker and no longer, however many jobs they have waiting.
 */

/** The budget as its item holds it. Times are epoch milliseconds. */
export type Budget = {
  /** Up to when slots are given away; undefined before the first. */
  readonly tatMs: number | undefined;
  /** How often the rate has been lowered. */
  readonly incidents: number;
  /** The last lowering: from it everybody computes how much of the rate has come back. */
  readonly lowered: Lowered | undefined;
  /** Since when an operator lets nothing leave. */
  readonly pausedAtMs: number | undefined;
  /** The configured rate of whoever reserved last; undefined before the first. */
  readonly rate: number | undefined;
  /** For people: sums over all workers. What a worker did since its last reservation is missing. */
  readonly tally: Tally;
};

/** Slots one after another, asked for by one write. */
export type Reservation = {
  /** `idle`: the line ends before `fromMs`, and the slots begin there. `busy`: it ends later, and they begin at its end. */
  readonly kind: 'idle' | 'busy';
  /** The earliest that the first slot can be used. */
  readonly fromMs: number;
  /** The latest that the first slot may be. */
  readonly latestMs: number;
  /** How much of the line. */
  readonly blockMs: number;
  /** Since when the worker last read the budget its rate must not have been lowered. */
  readonly incidents: number;
  readonly rate: number;
  readonly tally: Tally;
};

/** A 429, as one write tells it. */
export type Incident = {
  /** As often as the rate had been lowered when the slot was granted; if it has been since, nothing changes. */
  readonly incidents: number;
  /** Where the line begins anew. */
  readonly fromMs: number;
  readonly lowered: Lowered;
};

/** What a conditional write came to; a refusal moved nothing. */
export type BudgetWrite =
  | { readonly kind: 'written'; readonly budget: Budget }
  | { readonly kind: 'refused' };

/**
 * The item that a fleet shares. Each write is one conditional update. Throws `TableError` where the table cannot be
 * reached; a write may have been made then.
 */
export type BudgetItem = {
  /** Sees every write that was answered. */
  read(): Promise<Budget>;
  /** Refused if the line's end is not where `kind` says or lies past `latestMs`, after an incident, and while paused. */
  reserve(reservation: Reservation): Promise<BudgetWrite>;
  lower(incident: Incident): Promise<BudgetWrite>;
  pause(atMs: number): Promise<Budget>;
  resume(): Promise<Budget>;
};

export const emptyBudget: Budget = {
  tatMs: undefined,
  incidents: 0,
  lowered: undefined,
  pausedAtMs: undefined,
  rate: undefined,
  tally: noTally,
};

/** What one block spans at most, in milliseconds: as much as a worker that dies takes with it. */
export const BLOCK_MS = 250;

/** How late after its time a slot may be used: the spacing pays for it. Older ones would bunch with those that follow. */
export const LATE_MS = 10;

/** What requests of different machines may drift against each other, beyond those of one. Paid for as well. */
const MACHINES_DRIFT_MS = 10;

/**
 * How soon the line begins anew after a 429, at the earliest, in milliseconds. All who hold slots have heard of it by
 * then: a block is begun within 250 ms of a look at the budget, and spans as much.
 */
const LEAST_PAUSE_MS = 1_000;

/** The spacing of the line now, for a worker that is configured for this rate. */
export function lineSpacing(rate: number, { lowered }: Budget, nowMs: number): Spacing {
  return spacingFor(effectiveRate(rate, lowered, nowMs), LATE_MS + MACHINES_DRIFT_MS);
}

/**
 * How many slots to ask for: for the calls that wait, and as many of those that will have followed them by the end of
 * the block as places in flight become free; at least one, and none beyond `spanMs`.
 */
export function blockSize(demand: Demand, options: BlockOptions): number {
  const { waiting, queued, concurrency, latencyMs } = demand;
  const { spanMs, intervalMs, followers } = options;
  const most = Math.max(1, Math.floor(spanMs / intervalMs));
  const freed = Math.floor((concurrency * spanMs) / Math.max(1, latencyMs));
  return Math.min(most, Math.max(1, waiting + Math.min(queued + followers, freed)));
}

export type BlockOptions = {
  readonly spanMs: number;
  readonly intervalMs: number;
  /** Calls that came while the last block was used up. */
  readonly followers: number;
};

/** Of so many slots, to the microsecond: the item adds it up exactly. */
export const blockLength = (slots: number, intervalMs: number): number =>
  Math.round(slots * intervalMs * 1000) / 1000;

/** What a 429 of a slot that was granted under this budget makes of it. */
export function incidentOf(budget: Budget, options: IncidentOptions): Incident {
  const { rate, nowMs, retryAfterMs } = options;
  return {
    incidents: budget.incidents,
    fromMs: nowMs + Math.max(LEAST_PAUSE_MS, pauseAfter429(retryAfterMs)),
    lowered: lowerRate(rate, budget.lowered, nowMs),
  };
}

export type IncidentOptions = {
  readonly rate: number;
  readonly nowMs: number;
  readonly retryAfterMs: number | undefined;
};

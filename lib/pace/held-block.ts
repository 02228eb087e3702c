import type { Budget } from './budget.ts';

/** Slots of the line that this worker alone may use. */
type Block = {
  /** Their times in epoch milliseconds, ascending. */
  readonly slots: readonly [number, ...number[]];
  /** How early a call may leave in its slot. */
  readonly toleranceMs: number;
  /** How late a call may leave in its slot: the line paid for it when they were reserved. */
  readonly lateMs: number;
  /** How many times the rate had been lowered when they were reserved. */
  readonly incidents: number;
};

export type NoBlock = { readonly kind: 'none' };

/** Reserved long before it begins: the budget must be checked again before its first slot is used. */
export type DistantBlock = Block & { readonly kind: 'held' };

/** Its slots may be used: the budget was checked shortly before they begin (`fresh`), or some were used (`begun`). */
export type UsableBlock = Block & { readonly kind: 'fresh' | 'begun' };

/** What a worker holds of the line; a value that never changes. */
export type HeldBlock = NoBlock | DistantBlock | UsableBlock;

export const NO_BLOCK: NoBlock = { kind: 'none' };

/** How old the last look at the budget may be when a block is begun, in milliseconds. */
const FRESH_MS = 250;

export type Reserved = {
  readonly firstMs: number;
  /** How many slots; at least one. */
  readonly size: number;
  readonly intervalMs: number;
  readonly toleranceMs: number;
  readonly lateMs: number;
  readonly incidents: number;
  /** When the reservation was requested. */
  readonly requestedAtMs: number;
};

/** The block that a reservation made: a block that begins soon needs no second check. */
export function blockOf({ firstMs, size, intervalMs, requestedAtMs, ...rest }: Reserved): HeldBlock {
  const later = Array.from({ length: size - 1 }, (_, at) => firstMs + (at + 1) * intervalMs);
  const isSoon = firstMs - rest.toleranceMs - requestedAtMs <= FRESH_MS;
  return { ...rest, kind: isSoon ? 'fresh' : 'held', slots: [firstMs, ...later] };
}

/** When the first slot may be used. */
export const dueMsOf = ({ slots, toleranceMs }: Exclude<HeldBlock, NoBlock>): number =>
  slots[0] - toleranceMs;

/** The times of the remaining slots. */
export const slotsOf = (block: HeldBlock): readonly number[] => (block.kind === 'none' ? [] : block.slots);

/** The block without the slots that are too old. */
export const withoutLate = (block: HeldBlock, nowMs: number): HeldBlock =>
  block.kind === 'none'
    ? block
    : withSlots(
        block,
        block.slots.filter((slotMs) => slotMs + block.lateMs >= nowMs),
      );

/** The block after a call has left in its first slot. */
export const useFirst = (block: UsableBlock): HeldBlock =>
  withSlots({ ...block, kind: 'begun' }, block.slots.slice(1));

/**
 * Whether a block is still valid according to the budget: a 429 or a pause since it was reserved makes it void. If the
 * table does not respond (undefined), the slots are valid all the same: the next reservation will show.
 */
export const isStillValid = (block: DistantBlock, budget: Budget | undefined): boolean =>
  budget === undefined || (budget.incidents === block.incidents && budget.pausedAtMs === undefined);

/** The block once a check has found it valid. */
export const freshened = (block: HeldBlock): HeldBlock =>
  block.kind === 'held' ? { ...block, kind: 'fresh' } : block;

function withSlots(block: Exclude<HeldBlock, NoBlock>, [first, ...rest]: readonly number[]): HeldBlock {
  return first === undefined ? NO_BLOCK : { ...block, slots: [first, ...rest] };
}

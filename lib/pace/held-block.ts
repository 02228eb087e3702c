import type { Budget } from './budget.ts';

/** Slots of the line that this worker alone may use. */
type Block = {
  /** Their times in epoch milliseconds, ascending. */
  readonly slots: readonly [number, ...number[]];
  /** How early a call may leave in its slot. */
  readonly toleranceMs: number;
  /** How often the rate had been lowered when they were reserved. */
  readonly incidents: number;
};

export type NoBlock = { readonly kind: 'none' };

/** Reserved long before it begins: the budget must be looked at again before its first slot is used. */
export type DistantBlock = Block & { readonly kind: 'held' };

/** Its slots may be used: the budget was looked at shortly before they begin (`fresh`), or some were used (`begun`). */
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
  readonly incidents: number;
  /** When the reservation was asked for. */
  readonly askedAtMs: number;
};

/** The block that a reservation made: one that begins soon needs no second look. */
export function blockOf({ firstMs, size, intervalMs, askedAtMs, ...rest }: Reserved): HeldBlock {
  const later = Array.from({ length: size - 1 }, (_, at) => firstMs + (at + 1) * intervalMs);
  const isSoon = firstMs - rest.toleranceMs - askedAtMs <= FRESH_MS;
  return { ...rest, kind: isSoon ? 'fresh' : 'held', slots: [firstMs, ...later] };
}

/** When the first slot may be used. */
export const dueMsOf = ({ slots, toleranceMs }: Exclude<HeldBlock, NoBlock>): number =>
  slots[0] - toleranceMs;

/** The times of the slots that are left. */
export const slotsOf = (block: HeldBlock): readonly number[] => (block.kind === 'none' ? [] : block.slots);

/** The block without the slots that are more than `lateMs` old. */
export const withoutLate = (
  block: HeldBlock,
  { nowMs, lateMs }: { readonly nowMs: number; readonly lateMs: number },
): HeldBlock =>
  block.kind === 'none'
    ? block
    : withSlots(
        block,
        block.slots.filter((slotMs) => slotMs + lateMs >= nowMs),
      );

/** The block after a call left in its first slot. */
export const useFirst = (block: UsableBlock): HeldBlock =>
  withSlots({ ...block, kind: 'begun' }, block.slots.slice(1));

/**
 * Whether a block still stands by a look at the budget: a 429 or a pause since it was reserved makes it void. Where the
 * table does not respond (undefined) the slots stand all the same: the next reservation will show.
 */
export const stands = (block: DistantBlock, budget: Budget | undefined): boolean =>
  budget === undefined || (budget.incidents === block.incidents && budget.pausedAtMs === undefined);

/** The block once a look found that it stands. */
export const freshened = (block: HeldBlock): HeldBlock =>
  block.kind === 'held' ? { ...block, kind: 'fresh' } : block;

function withSlots(block: Exclude<HeldBlock, NoBlock>, [first, ...rest]: readonly number[]): HeldBlock {
  return first === undefined ? NO_BLOCK : { ...block, slots: [first, ...rest] };
}

import { shownJson } from '../../json/shown-json.ts';

/** The most bytes of a tool's result as it is sent, with everything in it. */
export const MOST_RESULT_BYTES = 100_000;

/** For what the protocol puts around a result, and for the members that are known only in the end. */
const RESERVED_BYTES = 4_000;

/** What a tool's own value may cost. */
export const MOST_COST = MOST_RESULT_BYTES - RESERVED_BYTES;

/** A value as JSON in which nothing can move a cursor or reverse a text. */
export const safeJson = (value: unknown): string => shownJson(JSON.stringify(value));

/** The bytes of a value in a result, which holds it twice: as it is, and as the text of its JSON. */
export function costOf(value: unknown): number {
  const json = safeJson(value);
  return Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
}

/** Takes items into a result as long as they fit. */
export type Room = {
  /** True if the item fits, whose room is then taken. False for every item after one that did not. */
  readonly takes: (item: unknown) => boolean;
  /** Whether an item would fit if there were no other. */
  readonly couldTake: (item: unknown) => boolean;
};

/** The room for at most `most` items beside `rest`, the result without them. */
export function createRoom(rest: unknown, most: number): Room {
  const whole = MOST_COST - costOf(rest);
  let left = whole;
  let count = 0;
  // A comma on each side of the copy.
  const costOfItem = (item: unknown) => costOf(item) + 2;
  return {
    takes(item) {
      left = count < most && left > 0 ? left - costOfItem(item) : -1;
      count += 1;
      return left >= 0;
    },
    couldTake: (item) => costOfItem(item) <= whole,
  };
}

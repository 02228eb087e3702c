import * as z from 'zod/mini';
import { parseJson, shownJson } from '../../base/index.ts';
import { ToolError, textInput, wholeInput } from './tool.ts';

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

type PageOptions = {
  /** The result without the items. */
  readonly beside: unknown;
  /** How many items came before: the first of `items` is the next. */
  readonly at: number;
  readonly limit: number;
  /** What a cursor holds besides the number of items before. */
  readonly position?: object;
};

/** The items that fit, and whether there are more, with the cursor that continues. */
export function pageOf<T>(items: readonly T[], { beside, at, limit, position }: PageOptions) {
  const { takes } = createRoom({ beside, nextCursor: 'x'.repeat(400) }, limit);
  const fitting = items.filter(takes);
  const isCut = fitting.length < items.length;
  const next = { ...position, at: at + fitting.length };
  return { fitting, end: isCut ? { isCut, nextCursor: cursorOf(next) } : { isCut } };
}

/** A position as an opaque text. */
const cursorOf = (position: object): string => Buffer.from(JSON.stringify(position)).toString('base64url');

const offset = { at: z.number().check(z.int(), z.gte(0)) };

/** The position that a cursor stands for: how many items came before, and what else. Throws `ToolError` for a text that no call returned. */
export function readCursor<const Shape extends z.core.$ZodShape>(cursor: string, more: Shape) {
  try {
    return z
      .strictObject({ ...offset, ...more })
      .parse(parseJson(Buffer.from(cursor, 'base64url').toString()));
  } catch (cause) {
    throw new ToolError(
      'cursor: expected the nextCursor of an earlier result of this tool, got something else',
      { cause },
    );
  }
}

/** How many items came before, by a cursor that says no more. */
export const offsetOf = (cursor: string | undefined): number =>
  cursor === undefined ? 0 : readCursor(cursor, {}).at;

/** What every list takes: how many items are wanted at most, and where to continue. */
export const listInput = {
  limit: z._default(wholeInput(1, 100).check(z.describe('At most so many, 1 to 100')), 20),
  cursor: z.optional(
    textInput('the nextCursor of an earlier result', 2_000).check(
      z.describe('nextCursor of the result before, to get what follows it; the other arguments unchanged'),
    ),
  ),
};

/** What every list ends with. */
export const listEnd = {
  isCut: z.boolean().check(z.describe('true if there is more than this result holds')),
  nextCursor: z.optional(z.string().check(z.describe('the cursor of the call that continues'))),
};

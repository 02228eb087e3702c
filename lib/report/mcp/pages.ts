import { hash } from 'node:crypto';
import * as z from 'zod/mini';
import { shortened, shownJson } from '../../base/index.ts';
import {
  defineTool,
  described,
  type ToolCall,
  ToolError,
  type ToolParts,
  textInput,
  wholeInput,
} from './tool.ts';

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

/** The room for at most `most` items beside `rest`, the result without them. */
export function createRoom(rest: unknown, most: number) {
  const whole = MOST_COST - costOf(rest);
  let left = whole;
  let count = 0;
  // A comma on each side of the copy.
  const costOfItem = (item: unknown) => costOf(item) + 2;
  return {
    /** True if the item fits, whose room is then taken. False for every item after one that did not. */
    takes(item: unknown): boolean {
      left = count < most && left > 0 ? left - costOfItem(item) : -1;
      count += 1;
      return left >= 0;
    },
    /** Whether an item would fit if there were no other. */
    couldTake: (item: unknown): boolean => costOfItem(item) <= whole,
  };
}

/** The texts within a value, each of at most `most` characters. */
export const withShortTexts = <T>(value: T, most: number): T =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? shortened(each, most) : each,
  ) as T;

type Page = {
  /** How many items came before. */
  readonly at: number;
  /** The most items that are of use: those before, of this page, and one more. */
  readonly most: number;
};

type Listed = {
  readonly head?: object;
  /** What stands beside the list in `data`. */
  readonly data?: object;
  /** From the first that no page before had. */
  readonly items: readonly unknown[];
  /** Names what the list is of: over something else a cursor is of no use. */
  readonly over?: string;
  /** True if something was left out that no cursor leads to. */
  readonly isCut?: boolean;
};

type ListParts<Input extends z.core.$ZodShape> = ToolParts & {
  readonly input: Input;
  /** The name of the list in `data`. */
  readonly list: string;
  /** The most characters of a text in an item. Default 400. */
  readonly longest?: number;
  /** What stands for an item that would not fit alone. Default: each does. */
  readonly tooLarge?: (item: never) => unknown;
  readonly run: (args: z.output<z.ZodMiniObject<Input>>, page: Page, call: ToolCall) => Promise<Listed>;
};

const limitInput = z._default(described(wholeInput(1, 100), 'At most so many, 1 to 100'), 20);

const cursorInput = described(
  z.optional(textInput('the nextCursor of an earlier result', 2_000)),
  'nextCursor of the result before, to get what follows it; the other arguments unchanged',
);

/** Makes a tool that returns a list, page by page: the items that fit, and a cursor if there are more. */
export function defineList<const Input extends z.core.$ZodShape>({
  input,
  list,
  longest = 400,
  tooLarge = (each) => each,
  run,
  ...tool
}: ListParts<Input>) {
  return defineTool({
    ...tool,
    input: z.strictObject({ ...input, limit: limitInput, cursor: cursorInput }),
    async run(given, call) {
      const { limit, cursor, ...args } = given as { readonly limit: number; readonly cursor?: string };
      const at = Number(cursor === undefined ? 0 : CURSOR.exec(cursor)?.[1]);
      const found = Number.isNaN(at)
        ? undefined
        : await run(args as never, { at, most: at + limit + 1 }, call);
      if (found === undefined || (cursor !== undefined && cursor !== cursorOf(at, found)))
        throw new ToolError(
          'cursor: expected the nextCursor of an earlier result of this tool over the same runs, got another: ask again without it',
        );
      const whole = (items: readonly unknown[]) => ({
        ...found.head,
        data: { [list]: items, ...found.data },
      });
      const { takes, couldTake } = createRoom(
        { ...whole([]), nextCursor: cursorOf(Number.MAX_SAFE_INTEGER, found) },
        limit,
      );
      const shown = found.items
        .map((each) => withShortTexts(each, longest))
        .map((each) => (couldTake(each) ? each : tooLarge(each as never)))
        .filter(takes);
      const isCut = shown.length < found.items.length;
      const nextCursor = cursorOf(at + shown.length, found);
      return { ...whole(shown), isCut: isCut || found.isCut === true, ...(isCut && { nextCursor }) };
    },
  });
}

const CURSOR = /^(\d{1,16})-/;

/** How many items come before, and what they are of. */
const cursorOf = (at: number, { over = '' }: Listed): string => `${at}-${hash('sha256', over).slice(0, 16)}`;

import { shortened, shownJson } from '../../base/index.ts';

/** Maximum bytes of a tool's result, as sent to the client. */
export const MAX_RESULT_BYTES = 100_000;

/** Bytes of a result that are reserved for the protocol's envelope and the cursor. */
const RESERVED_BYTES = 2_000;

/**
 * The statuses of a result of a tool that reads. `more`: its cursor continues the list. `cut`: it is incomplete, and
 * has no cursor.
 */
export const READ_STATUSES = ['complete', 'more', 'cut'] as const;

/** The statuses of a result of a tool that sends jobs. */
export const SEND_STATUSES = ['planned', 'sent', 'incomplete'] as const;

type Status = (typeof READ_STATUSES | typeof SEND_STATUSES)[number];

/** What a tool returns, before it is cut to `MAX_RESULT_BYTES`. */
export type ToolResult = {
  /** The status. Default: one of `READ_STATUSES`, depending on what fits. */
  readonly status?: Status;
  /** Members whose content comes only from this program. */
  readonly head?: object;
  /**
   * Members with strings from the platform or its users, which are not trusted. Lists are cut to the items that fit;
   * any other value that does not fit becomes null.
   */
  readonly data: object;
  /** Whether the tool itself left something out. */
  readonly isCut?: boolean;
  /**
   * Returns the cursor that continues after the first `shown` items of the list that `data` begins with; undefined at
   * the end of the list.
   */
  readonly cursorAfter?: (shown: number) => string | undefined;
};

/** Prints JSON whose strings, also after parsing, have no control characters and no characters that reverse text. */
const safeJson = (value: unknown): string => shownJson(JSON.stringify(value ?? null), '\\\\');

/** The number of bytes of a value in a result. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(safeJson(value));

/** What the client receives. */
type Answer = { readonly status: Status; readonly data: object; readonly nextCursor?: string };

/** Cuts a tool's result to `MAX_RESULT_BYTES`, and adds its status and cursor. */
export function answerOf({ status, head, data, isCut = false, cursorAfter }: ToolResult): Answer {
  const members = Object.entries(data);
  const names = members.map(([name, value]) => [name, Array.isArray(value) ? [] : null]);
  let left = MAX_RESULT_BYTES - RESERVED_BYTES - bytesOf({ ...head, data: Object.fromEntries(names) });
  const fits = (value: unknown) => {
    // Plus one byte for the comma. `left` stays negative, so everything after the first item that does not fit is left
    // out.
    left -= bytesOf(value) + 1;
    return left >= 0;
  };
  const shown = members.map(([name, value]): [string, unknown] => {
    if (Array.isArray(value)) return [name, value.filter(fits)];
    return [name, fits(value) ? value : null];
  });
  const first = shown[0]?.[1];
  const nextCursor = cursorAfter?.(Array.isArray(first) ? first.length : 0);
  const found = nextCursor !== undefined ? 'more' : isCut || left < 0 ? 'cut' : 'complete';
  const answer = { status: status ?? found, ...head, nextCursor, data: Object.fromEntries(shown) };
  return JSON.parse(safeJson(answer)) as Answer;
}

/** Cuts the strings in a value at `maxLength` characters. */
export const withShortTexts = <T>(value: T, maxLength: number): T =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? shortened(each, maxLength) : each,
  ) as T;

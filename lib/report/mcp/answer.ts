import { shortened, shownJson } from '../../base/index.ts';

/** The most bytes of a tool's result as it is sent, with everything in it. */
export const MAX_RESULT_BYTES = 100_000;

/** For what the protocol puts around a result, and for the cursor. */
const RESERVED_BYTES = 2_000;

/** What a result is: `more` is continued by its cursor, `cut` is not. */
export const READ_STATUSES = ['complete', 'more', 'cut'] as const;

/** The same of jobs that are to be sent. */
export const SEND_STATUSES = ['planned', 'sent', 'incomplete'] as const;

type Status = (typeof READ_STATUSES | typeof SEND_STATUSES)[number];

/** What a tool returns. */
export type ToolResult = {
  /** Default: by what fits. */
  readonly status?: Status;
  /** Ours. */
  readonly head?: object;
  /** The platform's or somebody else's. Of lists in it the first items that fit are shown; a value that does not fit is null. */
  readonly data: object;
  /** True if something was left out before. */
  readonly isCut?: boolean;
  /** The cursor that continues after so many items of the first list of `data`; undefined at its end. */
  readonly cursorAfter?: (shown: number) => string | undefined;
};

/** A value as JSON in which nothing can move a cursor or reverse a text, once it is parsed too. */
const safeJson = (value: unknown): string => shownJson(JSON.stringify(value ?? null), '\\\\');

/** The bytes of a value in a result. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(safeJson(value));

/** What a client gets: `status` says what it is, and everything in `data` fits. */
type Answer = { readonly status: Status; readonly data: object; readonly nextCursor?: string };

export function answerOf({ status, head, data, isCut = false, cursorAfter }: ToolResult): Answer {
  const members = Object.entries(data);
  const names = members.map(([name, value]) => [name, Array.isArray(value) ? [] : null]);
  let left = MAX_RESULT_BYTES - RESERVED_BYTES - bytesOf({ ...head, data: Object.fromEntries(names) });
  const fits = (value: unknown) => {
    // Beside its comma. What comes after the first that does not fit is left out too.
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

/** The texts within a value, each of at most `most` characters. */
export const withShortTexts = <T>(value: T, most: number): T =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? shortened(each, most) : each,
  ) as T;

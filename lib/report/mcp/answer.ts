import { shortened, shownJson } from '../../base/index.ts';

/** The most bytes of a tool's result as it is sent, with everything in it. */
export const MOST_RESULT_BYTES = 100_000;

/** For what the protocol puts around a result, and for the cursor. */
const RESERVED_BYTES = 2_000;

/** What a result is: `more` is continued by its cursor, `cut` is not; `refused` and those before it are of jobs to send. */
type Status = 'complete' | 'more' | 'cut' | 'planned' | 'sent' | 'incomplete';

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

/** A value as JSON in which nothing can move a cursor or reverse a text. */
const safeJson = (value: unknown): string => shownJson(JSON.stringify(value ?? null));

/** The bytes of a value in a result, which is a text of JSON within JSON. */
export const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(safeJson(value)));

/** A result as the JSON that a client gets. */
export function printAnswer({ status, head, data, isCut = false, cursorAfter }: ToolResult): string {
  const members = Object.entries(data);
  const names = members.map(([name, value]) => [name, Array.isArray(value) ? [] : null]);
  let left = MOST_RESULT_BYTES - RESERVED_BYTES - bytesOf({ ...head, data: Object.fromEntries(names) });
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
  return safeJson({ status: status ?? found, ...head, nextCursor, data: Object.fromEntries(shown) });
}

/** The texts within a value, each of at most `most` characters. */
export const withShortTexts = <T>(value: T, most: number): T =>
  JSON.parse(JSON.stringify(value), (_, each: unknown) =>
    typeof each === 'string' ? shortened(each, most) : each,
  ) as T;

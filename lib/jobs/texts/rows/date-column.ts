const DOTTED = /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})(?![^ T])/;
const SORTED = /^(?<year>\d{4})(?<sign>[-/])(?<month>\d\d)\k<sign>(?<day>\d\d)(?![^ T])/;
/** Behind a day there is nothing, or a time. */
const MAX_TIME_LENGTH = 24;

/**
 * The day that a cell of a table holds as it is written there, whatever its zone, `2026-11-22`; undefined if it holds none. Day
 * and month of `11/12/2026` cannot be told apart, and a number may be anything, but for one that is the milliseconds of these
 * decades.
 */
export function dayIn(cell: string): string | undefined {
  const text = cell.trim();
  const found = SORTED.exec(text) ?? DOTTED.exec(text);
  const { year = '', month = '', day = '' } = found?.groups ?? {};
  if (found !== null && text.length > found[0].length + MAX_TIME_LENGTH) return undefined;
  const ms = /^1\d{12}$/.test(text)
    ? Number(text)
    : Date.parse(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString().slice(0, 10);
}

/** The first of the columns of a row that holds a date, and its day: by this the row is counted over time. */
export function dateIn(
  cells: Readonly<Record<string, string>> = {},
): { readonly column: string; readonly day: string } | undefined {
  for (const [column, cell] of Object.entries(cells)) {
    const day = dayIn(cell);
    if (day !== undefined) return { column, day };
  }
  return undefined;
}

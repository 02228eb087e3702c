import { csvCell } from '../../../text/cells/index.ts';

/** How to sort and filter by a column of a list. Rows are numbered from 0. */
export type Sortable = {
  readonly name: string;
  readonly text: (row: number) => string;
  /**
   * The number to sort by. Default: rows are sorted by the text. Rows without a number come last in both directions.
   */
  readonly number?: ((row: number) => number | null) | undefined;
  /** The values of a row by which it is filtered: `COLUMN=VALUE` selects rows with that value. Default: none. */
  readonly values?: (row: number) => readonly string[];
  /** Whether the number is a time: `COLUMN.from=DAY` and `COLUMN.to=DAY` select rows by it. */
  readonly isDay?: boolean;
};

const DAY_MS = 86_400_000;

/** Returns a function that decides whether a row passes the filters in the parameters of an address. */
export function selectedBy(columns: readonly Sortable[], params: Readonly<Record<string, string>>) {
  const tests = columns.flatMap(({ name, values, number, isDay = false }) => {
    const value = params[name];
    if (values !== undefined) return value ? (row: number) => values(row).includes(value) : [];
    const from = Date.parse(params[`${name}.from`] ?? '');
    const to = Date.parse(params[`${name}.to`] ?? '');
    if (!isDay || (Number.isNaN(from) && Number.isNaN(to))) return [];
    return (row: number) => {
      const ms = number?.(row) ?? null;
      return ms !== null && !(ms < from) && !(ms >= to + DAY_MS);
    };
  });
  return (row: number): boolean => tests.every((test) => test(row));
}

/**
 * The rows that pass, and whose text has all words of the query, in any case. `texts`: one for each row, in lower case.
 */
export function matching(
  texts: readonly string[],
  query: string,
  passes: (row: number) => boolean = () => true,
): readonly number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: number[] = [];
  for (const [row, text] of texts.entries())
    if (words.every((word) => text.includes(word)) && passes(row)) rows.push(row);
  return rows;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** Sorts rows by a column; equal rows keep their order. */
function sorted(rows: readonly number[], { number, text }: Sortable, descending: boolean): readonly number[] {
  const sign = descending ? -1 : 1;
  if (number === undefined) return inOrder(rows, text, (a, b) => sign * collator.compare(a, b));
  return inOrder(rows, number, (a, b) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return sign * (a - b);
  });
}

/** The rows in the order that `sort` requests: the name of a column, after `-` for descending order. */
export function inShownOrder(columns: readonly Sortable[], rows: readonly number[], sort: string) {
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ''));
  return column === undefined ? rows : sorted(rows, column, sort.startsWith('-'));
}

const inOrder = <T>(rows: readonly number[], of: (row: number) => T, compare: (a: T, b: T) => number) =>
  rows
    .map((row) => [row, of(row)] as const)
    .sort(([, a], [, b]) => compare(a, b))
    .map(([row]) => row);

type Column = Sortable & { readonly label: string; readonly isNumber?: boolean };

/**
 * Prints rows as CSV in the format of `query --csv`, with the columns' labels first. Numbers are digits, without
 * commas.
 */
export function csvOf(columns: readonly Column[], rows: readonly number[]): string {
  const cellOf = ({ text, number, isNumber }: Column, row: number) =>
    isNumber ? String(number?.(row) ?? '') : text(row);
  const lines = [
    columns.map(({ label }) => label),
    ...rows.map((row) => columns.map((column) => cellOf(column, row))),
  ];
  return lines.map((cells) => `${cells.map((cell) => csvCell(cell, ',')).join()}\r\n`).join('');
}

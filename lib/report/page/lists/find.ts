/** A column of a list. Rows are numbered from 0. */
export type Sortable = {
  readonly name: string;
  readonly text: (row: number) => string;
  /** What it is sorted by, if not by its text. Rows without a number come last, in either direction. */
  readonly number?: ((row: number) => number | null) | undefined;
  /** The values of a row, any of which as `COLUMN=VALUE` selects it. Default: no value does. */
  readonly values?: (row: number) => readonly string[];
  /** True if the number is a time, which `COLUMN.from=DAY` and `COLUMN.to=DAY` select. */
  readonly isDay?: boolean;
};

const DAY_MS = 86_400_000;

/** Whether a row has what the parameters of an address ask of its columns. */
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

/** The rows whose text contains all words of the query, in any case, and that pass. The texts are in lower case. */
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

/** The rows in the order of a column; rows that are equal stay in the order they are in. */
export function sorted(
  rows: readonly number[],
  { number, text }: Sortable,
  descending: boolean,
): readonly number[] {
  const sign = descending ? -1 : 1;
  if (number === undefined) return inOrder(rows, text, (a, b) => sign * collator.compare(a, b));
  return inOrder(rows, number, (a, b) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    return sign * (a - b);
  });
}

/** The rows in the order in which they are shown: `sort` is the name of a column, after `-` for descending. */
export function inShownOrder(columns: readonly Sortable[], rows: readonly number[], sort: string) {
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ''));
  return column === undefined ? rows : sorted(rows, column, sort.startsWith('-'));
}

const inOrder = <T>(rows: readonly number[], of: (row: number) => T, compare: (a: T, b: T) => number) =>
  rows
    .map((row) => [row, of(row)] as const)
    .sort(([, a], [, b]) => compare(a, b))
    .map(([row]) => row);

/** A column of a list. Rows are numbered from 0. */
export type Sortable = {
  readonly name: string;
  readonly text: (row: number) => string;
  /** What it is sorted by, if not by its text. Rows without a number come last, in either direction. */
  readonly number?: ((row: number) => number | null) | undefined;
};

export type Sort = { readonly name: string; readonly descending: boolean };

/** `name`, or `-name` for descending. */
export const parseSort = (text: string): Sort =>
  text.startsWith('-') ? { name: text.slice(1), descending: true } : { name: text, descending: false };

export const printSort = ({ name, descending }: Sort): string => `${descending ? '-' : ''}${name}`;

/** What all of the words must be in, for each row: in lower case. */
export function searchable(length: number, textOf: (row: number) => string): readonly string[] {
  return Array.from({ length }, (_, row) => textOf(row).toLowerCase());
}

/** The rows whose text contains all words of the query, in any case, and that pass. */
export function matching(
  texts: readonly string[],
  query: string,
  passes: (row: number) => boolean,
): readonly number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: number[] = [];
  for (const [row, text] of texts.entries())
    if (words.every((word) => text.includes(word)) && passes(row)) rows.push(row);
  return rows;
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/** The rows in the order of a column; rows that are equal stay in the order they are in. */
export function sorted(rows: readonly number[], column: Sortable, descending: boolean): readonly number[] {
  const sign = descending ? -1 : 1;
  const { number, text } = column;
  if (number === undefined)
    return rows
      .map((row) => [row, text(row)] as const)
      .sort(([, a], [, b]) => sign * collator.compare(a, b))
      .map(([row]) => row);
  return rows
    .map((row) => [row, number(row)] as const)
    .sort(([, a], [, b]) => {
      if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
      return sign * (a - b);
    })
    .map(([row]) => row);
}

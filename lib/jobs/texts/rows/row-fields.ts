/** Which columns of a source a row is made of. */
export type RowColumns = {
  /** The column of the text to score. */
  readonly text: string;
  /** The column of the row's id; without it the id is the number of the row's line. */
  readonly id?: string | undefined;
  /** Further columns that go along. */
  readonly columns?: readonly string[] | undefined;
};

/** A row of a source. `line`: the physical line where it begins, from 1. */
export type Row = {
  readonly line: number;
  readonly id: string;
  readonly text: string;
  readonly columns: Readonly<Record<string, string>>;
};

/** A row that cannot be used, and why. */
export type BadRow = { readonly line: number; readonly fault: string };

/** All columns that are asked for, each once. */
export const askedColumns = ({ text, id, columns = [] }: RowColumns): readonly string[] => [
  ...new Set([text, ...(id === undefined ? [] : [id]), ...columns]),
];

/** A row of its values. A text or an id that is empty makes it a bad one. */
export function rowFrom(
  line: number,
  { text, id, columns = [] }: RowColumns,
  fieldOf: (column: string) => string,
): Row | BadRow {
  const row = {
    line,
    id: id === undefined ? String(line) : fieldOf(id),
    text: fieldOf(text),
    columns: Object.fromEntries(columns.map((column) => [column, fieldOf(column)])),
  };
  if (!/\S/.test(row.text)) return { line, fault: `${text}: expected text, got an empty one` };
  if (id !== undefined && row.id.trim() === '')
    return { line, fault: `${id}: expected an id, got an empty one` };
  return row;
}

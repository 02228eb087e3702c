/** The columns of a source that make up a row. */
export type RowColumns = {
  /** The column of the text to score. */
  readonly text: string;
  /** The column of the row's id; by default the id is the number of the row's line. */
  readonly id?: string | undefined;
  /** Further columns to copy into the results. */
  readonly columns?: readonly string[] | undefined;
};

/** A row of a source. `line`: the physical line where it starts, from 1. */
export type Row = {
  readonly line: number;
  readonly id: string;
  readonly text: string;
  readonly columns: Readonly<Record<string, string>>;
};

/** A row that cannot be used, and why. */
export type BadRow = { readonly line: number; readonly fault: string };

/** All requested columns, each once. */
export const requestedColumns = ({ text, id, columns = [] }: RowColumns): readonly string[] => [
  ...new Set([text, ...(id === undefined ? [] : [id]), ...columns]),
];

/** Makes a row from its values; an empty text or id makes it a bad row. */
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
  if (!/\S/.test(row.text)) return { line, fault: `${text}: expected text, got an empty value` };
  if (id !== undefined && row.id.trim() === '')
    return { line, fault: `${id}: expected an id, got an empty value` };
  return row;
}

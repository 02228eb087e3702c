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
export type BadRow = {
  readonly line: number;
  readonly fault: string;
  /** What can be read of the row's own id and columns. */
  readonly id?: string | undefined;
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** There is nothing to score: the text is blank, or null. */
  readonly isEmpty?: true;
};

/** A bad row with what can be read of it; absent values are left out. */
export function badRow(
  { line, fault, isEmpty }: BadRow,
  { id, columns = [] }: RowColumns,
  fieldOf: (column: string) => string | undefined,
): BadRow {
  const own = id === undefined ? undefined : fieldOf(id);
  const read = columns.flatMap((column) => {
    const value = fieldOf(column);
    return value === undefined ? [] : [[column, value] as const];
  });
  return {
    line,
    fault,
    ...(own === undefined || own.trim() === '' ? {} : { id: own }),
    ...(read.length === 0 ? {} : { columns: Object.fromEntries(read) }),
    ...(isEmpty ? { isEmpty } : {}),
  };
}

/** All requested columns, each once. */
export const requestedColumns = ({ text, id, columns = [] }: RowColumns): readonly string[] => [
  ...new Set([text, ...(id === undefined ? [] : [id]), ...columns]),
];

/** Makes a row from its values; an empty text or id makes it a bad row. */
export function rowFrom(
  line: number,
  requested: RowColumns,
  fieldOf: (column: string) => string,
): Row | BadRow {
  const { text, id, columns = [] } = requested;
  const row = {
    line,
    id: id === undefined ? String(line) : fieldOf(id),
    text: fieldOf(text),
    columns: Object.fromEntries(columns.map((column) => [column, fieldOf(column)])),
  };
  const bad = (fault: string, isEmpty?: true) =>
    badRow({ line, fault, ...(isEmpty ? { isEmpty } : {}) }, requested, fieldOf);
  if (!/\S/.test(row.text)) return bad(`${text}: expected text, got an empty value`, true);
  if (id !== undefined && row.id.trim() === '') return bad(`${id}: expected an id, got an empty value`);
  return row;
}

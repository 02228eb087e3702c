/** A column of a table of SQL; `type` is DuckDB's. */
export type Column = { readonly name: string; readonly type: string };

/** A file on this machine that DuckDB reads rows from. */
export type DataFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** The most bytes of a line, for lines of JSON whose values are text, lists of text, or null; absent: it is Parquet. */
  readonly longestLine?: number;
  /** Columns of Parquet with any JSON, of which the table has a text as it is. Default: none. */
  readonly jsonColumns?: readonly string[];
};

/**
 * Rows of a table that are read together or not at all: a run, the jobs of a day. All of them have the same values in
 * the table's last columns, so that a query can leave out pieces without reading them.
 */
export type Piece = {
  /** The values of `Table.pieceColumns`. */
  readonly values: readonly string[];
  /** Finds out what there is to read; undefined if it is missing or damaged, which is reported. */
  readonly prepare: () => Promise<PreparedPiece | undefined>;
};

/** A piece whose size is known. */
export type PreparedPiece = {
  /** What is read for it at most, in bytes; of a file that lies on this machine, DuckDB may read less. */
  readonly bytes: number;
  /** How much of it needs room in the temporary folder, in bytes, as far as that is known before. */
  readonly copiedBytes: number;
  /** Its rows as files on this machine. What is missing or damaged is reported and left out. */
  readonly load: () => Promise<readonly DataFile[]>;
};

/** What is stored, as a table that the views are over. */
export type Table = {
  /** Begins with `stored_`. */
  readonly name: string;
  /** Without `pieceColumns`. */
  readonly columns: readonly Column[];
  /** The names of its last columns, of text, which are the same in all rows of a piece. */
  readonly pieceColumns: readonly string[];
  /** Its pieces now; `reads` is true if the query reads a table with such a name. */
  readonly pieces: (reads: (name: RegExp) => boolean) => Promise<readonly Piece[]>;
};

/** The columns of a table in their order, but for the first `constants` of its piece columns. */
export const columnsAfter = ({ columns, pieceColumns }: Table, constants: number): readonly Column[] => [
  ...columns,
  ...pieceColumns.slice(constants).map((name): Column => ({ name, type: 'VARCHAR' })),
];

import type { Columns } from '../../snapshot/sources/source-definition.ts';
import type { DataFile } from './local-copies.ts';

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
  /** Its rows as files of Parquet on this machine. What is missing or damaged is reported and left out. */
  readonly load: () => Promise<readonly DataFile[]>;
};

/** What is stored, as a table that the views are over. */
export type Table = {
  /** Begins with `stored_`. */
  readonly name: string;
  /** Without `pieceColumns`. */
  readonly columns: Columns;
  /** The names of its last columns, of text, which are the same in all rows of a piece. */
  readonly pieceColumns: readonly string[];
  /** Its pieces now; `reads` is true if the query reads a table with such a name. */
  readonly pieces: (reads: (name: RegExp) => boolean) => Promise<readonly Piece[]>;
};

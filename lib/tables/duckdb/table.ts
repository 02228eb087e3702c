import type { Columns } from '../../snapshot/sources/source-definition.ts';
import type { Store } from '../../store/index.ts';
import type { DataFile, LocalCopies } from './local-copies.ts';

export type Session = {
  readonly store: Store;
  readonly copies: LocalCopies;
  /** Reports something that is missing or damaged and was left out, in words. */
  readonly report: (fault: string) => void;
  /** Reports what was found elsewhere, since it is damaged, or is not there since nobody published it, in words. */
  readonly note: (words: string) => void;
  /** True if the query names a column like this, in lower case. */
  readonly asks: (column: string) => boolean;
  /** Aborted when the query is to stop. */
  readonly signal: AbortSignal;
};

/** What is stored, as a table that the views are over. */
export type Table = {
  readonly name: string;
  /** Without `pieceColumns`. */
  readonly columns: Columns;
  /** The names of its last columns, of text, which are the same in all rows of a piece. */
  readonly pieceColumns: readonly string[];
  /** Its pieces now; `reads` is true if the query reads a table with such a name. */
  readonly pieces: (reads: (name: RegExp) => boolean) => Promise<readonly Piece[]>;
};

/** Rows of a table that are read together or not at all, since conditions on its last columns say so: a run, the jobs of a day. */
export type Piece = {
  readonly values: readonly string[];
  /** What there is to read. What is missing or damaged is reported. */
  readonly files: () => Promise<readonly FileToRead[]>;
};

/** A file of Parquet to read. */
export type FileToRead = {
  /** What is read of it at most, in bytes; of a file that lies on this machine, DuckDB may read less. */
  readonly bytes: number;
  /** How much of that needs room in the temporary folder, as far as it is known before. */
  readonly copiedBytes: number;
  /** The file on this machine; undefined if it is missing or damaged, which is reported. */
  readonly open: () => Promise<DataFile | undefined>;
};

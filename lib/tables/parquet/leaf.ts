import type { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import type { Levels } from './levels.ts';

/** Where a leaf column is in the schema. */
export type LeafPlace = {
  /** Names, from the column down. */
  readonly path: readonly string[];
  /** The definition level of a value. */
  readonly definition: number;
  /** How many lists its path has. */
  readonly repetition: number;
};

/** A leaf column of a table: its places in the rows of a row group, and the values at those that have one. */
export type Leaf = LeafPlace & {
  readonly type: 'BYTE_ARRAY' | 'INT64' | 'BOOLEAN';
  readonly levels: Levels;
  /** Forgets all places but the first ones, of a line that has to be read again. */
  rollBack(places: number): void;
  /** Forgets everything. */
  clear(): void;
  /** The values as Parquet has them: views, until the next one is added, of its own memory or of `memory`, which is empty. */
  encoded(memory: ByteWriter): EncodedValues;
};

type Bound = string | bigint | boolean;

/** The values of a leaf without their places. */
export type EncodedValues = {
  /** How many there are. */
  readonly count: number;
  /** What all values take in the plain encoding, as one page. */
  readonly page: Uint8Array;
  /** The distinct values as a page, of which `page` has the indexes. Default: `page` has the values. */
  readonly dictionary?: { readonly page: Uint8Array; readonly count: number } | undefined;
  /** Bounds of the values; none if there are no values, or they are too long to be bounds. */
  readonly bounds?: { readonly min: Bound; readonly max: Bound } | undefined;
};

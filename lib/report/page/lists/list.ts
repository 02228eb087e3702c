import type { ComponentChildren } from 'preact';
import type { Sortable } from './find.ts';

/** A column of a list: what its cells show, and whether rows can be selected by its value. */
export type Column = Sortable & {
  readonly label: string;
  /** Default: the text. */
  readonly cell?: (row: number) => ComponentChildren;
  readonly isNumber?: boolean;
  /** True if `COLUMN=VALUE` in the address selects rows. */
  readonly isFacet?: boolean;
  /** The values of a row by which it is selected. Default: the text. */
  readonly values?: (row: number) => readonly string[];
  /** What a value is called. Default: itself. */
  readonly labelOf?: (value: string) => string;
  /** True if the cell names the row. One column of each list is. */
  readonly isHeading?: boolean;
};

/** A property that some rows have, by which they can be selected. */
export type Flag = {
  readonly name: string;
  readonly label: string;
  /** In a sentence. */
  readonly meaning?: string;
  readonly has: (row: number) => boolean;
};

/** A list as the page shows it: rows are numbered from 0. */
export type List = {
  readonly noun: readonly [one: string, many: string];
  readonly length: number;
  /** How many there are on the platform, if the list does not hold all. */
  readonly total: number;
  readonly isWhole: boolean;
  /** Which are listed, if not all: `the largest`. */
  readonly which?: string;
  readonly columns: readonly Column[];
  readonly flags?: readonly Flag[];
  /** What the search looks into. Default: the heading and the id. */
  readonly textOf?: (row: number) => string;
  /** Which order it has at first, as in an address. */
  readonly sort: string;
  /** What to read where there is nothing. */
  readonly empty: string;
};

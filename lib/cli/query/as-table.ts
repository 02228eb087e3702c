import { shortened } from '../../base/index.ts';
import type { ExactValue } from '../../tables/duckdb/exact-value.ts';
import { inColumns, shown } from '../terminal/terminal.ts';

/** The space between two columns. */
const GAP = 2;

/** A column narrower than this says too little. */
const NARROWEST = 8;

/** Columns of text that fit into the width of a terminal. */
export type TextTable = {
  /** How many of the columns are shown. */
  readonly columns: number;
  /** The lines of rows; those of the first call begin with the names of the columns. */
  readonly lines: (rows: readonly (readonly ExactValue[])[]) => readonly string[];
};

/**
 * Lays out a table by its first rows. With a `width`, cells are shortened so that lines have at most so many characters;
 * columns for which there is no room are left out.
 */
export function textTable(
  names: readonly string[],
  first: readonly (readonly ExactValue[])[],
  width: number | undefined,
): TextTable {
  const header = names.map((name) => shown(name));
  const widest = header.map((name, at) =>
    first.reduce((most, row) => Math.max(most, textOf(row[at] ?? null).length), name.length),
  );
  const widths = width === undefined ? widest : fitted(widest, width);
  let isFirst = true;
  return {
    columns: widths.length,
    lines(rows) {
      const cells = rows.map((row) => widths.map((most, at) => cut(textOf(row[at] ?? null), most, width)));
      const padded = widths.map((most, at) => cut(header[at] ?? '', most, width).padEnd(most));
      const lines = inColumns(padded, cells);
      const from = isFirst ? 0 : 1;
      isFirst = false;
      return lines.slice(from);
    },
  };
}

const textOf = (value: ExactValue) => shown(cellOf(value));

const cut = (text: string, most: number, width: number | undefined) =>
  width === undefined || text.length <= most ? text : shortened(text, Math.max(1, most - 1));

/** Widths that fit: the widest columns give way first; the last columns are left out if that is not enough. */
function fitted(widest: readonly number[], width: number): readonly number[] {
  const room = (columns: number) => Math.max(NARROWEST, width - GAP * (columns - 1));
  const least = (columns: number) =>
    widest.slice(0, columns).reduce((sum, each) => sum + Math.min(each, NARROWEST), 0);
  let columns = widest.length;
  while (columns > 1 && least(columns) > room(columns)) columns -= 1;
  const kept = widest.slice(0, columns);
  let most = Math.max(NARROWEST, ...kept);
  const total = () => kept.reduce((sum, each) => sum + Math.min(each, most), 0);
  while (most > NARROWEST && total() > room(columns)) most -= 1;
  return kept.map((each) => Math.min(each, most));
}

/** A value as text: a text as it is, nothing for null, and JSON for what is nested. */
export function cellOf(value: ExactValue): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

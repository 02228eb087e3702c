import { shortened } from '../../base/index.ts';

/** Cells are padded to the widest of their column, so one long cell would lengthen every row. */
const LONGEST_CELL = 200;

/**
 * Prints rows as lines, with each column as wide as its widest cell. A row may have more cells than the header. Cells
 * other than a row's last are shortened.
 */
export function inColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const all = [header, ...rows].map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : shortened(cell, LONGEST_CELL))),
  );
  // Not as arguments of one call: rows may be more than a stack has room for.
  const widths = header.map((_, at) => all.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0));
  return all.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

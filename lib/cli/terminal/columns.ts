import { shortened } from '../../base/index.ts';

/** Cells are padded to the widest of their column, so one long cell would lengthen every row. */
const LONGEST_CELL = 200;

/**
 * Prints rows as lines, with each column as wide as its widest cell. A row may have more cells than the header. Cells
 * other than a row's last are shortened. With `width`, the characters of a line of the screen, ids in the first column
 * are shortened as far as the other columns need the room.
 */
export function inColumns(
  header: readonly string[],
  given: readonly (readonly string[])[],
  { width }: { readonly width?: number | undefined } = {},
): readonly string[] {
  const rows = width === undefined ? given : withShortIds(header, given, width);
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

/** As much of an id as is shown in any case, and as much of the last column as it leaves room for. */
const LEAST_OF_ID = 16;
const ROOM_FOR_LAST = 20;

/** Rows whose first cells, which are ids, leave room for the others. */
function withShortIds(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const widest = (at: number) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), header[at]?.length ?? 0);
  const last = header.length - 1;
  const others = header.reduce((sum, _, at) => {
    if (at === 0) return sum;
    return sum + 2 + (at === last ? Math.min(widest(at), ROOM_FOR_LAST) : widest(at));
  }, 0);
  const most = Math.max(LEAST_OF_ID, width - others);
  return rows.map(([id = '', ...rest]) => [shortId(id, most), ...rest]);
}

/** An id with its middle left out: its start says what it is of, its end which one. */
function shortId(id: string, most: number): string {
  if (id.length <= most) return id;
  const end = Math.floor((most - 1) / 2);
  return `${id.slice(0, most - 1 - end)}…${id.slice(id.length - end)}`;
}

import { CLOSE_OBJECT, skipDeepValue } from '../../snapshot/page/json-bytes.ts';
import { type Cursor, finderOf, isFilled, isMore, type ReadValue, type Value } from './fit-value.ts';

/** A field with a column: its name as on the platform, how its values are read, and the column's index in a row. */
export type RecordField = { readonly name: string; readonly read: ReadValue; readonly column: number };

/** The members of a record that were read last, by the positions of their bytes: from a name's quote to a value's end. */
export type Members = {
  count: number;
  readonly starts: number[];
  readonly ends: number[];
  /** True if the member does not fit, has no column, or has the name of another member. */
  readonly isOther: boolean[];
};

/**
 * Makes a function that reads a record, an object that begins at the cursor, into a row, and moves the cursor behind it.
 * Of members with the same name the last one counts. It returns the same object each time.
 */
export function recordReader(fields: readonly RecordField[]): (cursor: Cursor, row: Value[]) => Members {
  const find = finderOf(fields.map(({ name }) => name));
  const members: Members = { count: 0, starts: [], ends: [], isOther: [] };
  // The member of each field; none before the first one.
  const memberOf = fields.map(() => NONE);
  // Records of one platform mostly have their members in one order, which need not be that of the columns.
  const after = fields.map((_, index) => index + 1);

  return (cursor, row) => {
    members.count = 0;
    memberOf.fill(NONE);
    let last = NONE;
    let expected = 0;
    for (let isIn = isFilled(cursor); isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
      const member = members.count;
      members.count += 1;
      members.starts[member] = cursor.at;
      cursor.fits = true;
      const index = find(cursor, expected);
      const field = fields[index];
      if (field === undefined) {
        cursor.at = skipDeepValue(cursor.json, cursor.at, 0);
        cursor.fits = false;
      } else {
        row[field.column] = field.read(cursor);
        const earlier = memberOf[index] ?? NONE;
        memberOf[index] = member;
        if (earlier !== NONE) {
          members.isOther[earlier] = true;
          cursor.fits = false;
        }
        if (last !== NONE) after[last] = index;
        last = index;
        expected = after[index] ?? 0;
      }
      members.ends[member] = cursor.at;
      members.isOther[member] = !cursor.fits;
    }
    return members;
  };
}

const NONE = -1;

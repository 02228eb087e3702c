import { CLOSE_OBJECT, skipDeepValue } from '../../snapshot/page/json-bytes.ts';
import { type Cursor, isFilled, isMore } from './cursor.ts';
import { finderOf } from './find-name.ts';
import type { FittedNode } from './fitted-node.ts';

/** A field with a column: its name as on the platform. */
export type RecordField = { readonly name: string; readonly node: FittedNode };

/** The members of a record that were read last, by the positions of their bytes: from a name's quote to a value's end. */
export type Members = {
  count: number;
  readonly starts: number[];
  readonly ends: number[];
  /** True if the member does not fit, has no column, or has the name of another member. */
  readonly isOther: boolean[];
};

/** Writes a record, an object that begins at the cursor, as a row, and moves the cursor behind it. */
export type ReadRecord = (cursor: Cursor) => void;

/**
 * Makes a function that reads records into `members`. Of members with the same name the last one has the column: a record
 * that has such members sets `repeats`, and is read again with care, which reads each column's member after all others.
 */
export function recordReader(fields: readonly RecordField[], members: Members): ReadRecord {
  const find = finderOf(fields.map(({ name }) => name));
  const nodes = fields.map(({ node }) => node);
  /** The member of each field, and where its value is. */
  const memberOf = nodes.map(() => NONE);
  const places = nodes.map(() => 0);
  // Records of one platform mostly have their members in one order, which need not be that of the columns.
  const after = nodes.map((_, index) => index + 1);

  function readMembers(cursor: Cursor): void {
    let last = NONE;
    for (let isIn = isFilled(cursor); isIn; isIn = isMore(cursor, CLOSE_OBJECT)) {
      const member = members.count;
      members.count += 1;
      members.starts[member] = cursor.at;
      const index = find(cursor, last === NONE ? 0 : (after[last] ?? 0));
      const node = nodes[index];
      const earlier = memberOf[index] ?? NONE;
      cursor.fits = node !== undefined && earlier === NONE;
      if (earlier !== NONE) [members.isOther[earlier], cursor.repeats] = [true, true];
      if (node !== undefined) {
        [memberOf[index], places[index]] = [member, cursor.at];
        if (last !== NONE) after[last] = index;
        last = index;
      }
      if (node !== undefined && earlier === NONE && !cursor.isCareful) node.read(cursor, 0);
      else cursor.at = skipDeepValue(cursor.json, cursor.at, 0);
      members.ends[member] = cursor.at;
      members.isOther[member] = !cursor.fits;
    }
  }

  /** The columns that the members did not write. */
  function readColumns(cursor: Cursor): void {
    for (let index = 0; index < nodes.length; index += 1) {
      const member = memberOf[index] ?? NONE;
      if (member === NONE) nodes[index]?.none(0, 0);
      else if (cursor.isCareful) {
        cursor.at = places[index] ?? 0;
        cursor.fits = true;
        nodes[index]?.read(cursor, 0);
        if (!cursor.fits) members.isOther[member] = true;
      }
    }
  }

  return (cursor) => {
    members.count = 0;
    memberOf.fill(NONE);
    readMembers(cursor);
    const end = cursor.at;
    readColumns(cursor);
    cursor.at = end;
  };
}

const NONE = -1;

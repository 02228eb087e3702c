import { CLOSE_OBJECT, skipDeepValue } from '../../snapshot/page/json-bytes.ts';
import { findName, isNameAt, lengthOf, type Names, namesOf } from './find-name.ts';
import type { FittedNode } from './fitted-node.ts';
import { addToEach } from './levels.ts';
import { firstItem, nextItem } from './members.ts';
import { readNode } from './read-node.ts';
import type { Reading } from './reading.ts';

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

/** What reads records, and what it has found of the one that was read last. */
export type RecordReader = {
  readonly nodes: readonly FittedNode[];
  readonly names: Names;
  /** The member of each field, and where its value is. */
  readonly memberOf: number[];
  readonly places: number[];
  /** Records of one platform mostly have their members in one order, which need not be that of the columns. */
  readonly after: number[];
  readonly members: Members;
};

const NONE = -1;

export const recordReader = (fields: readonly RecordField[]): RecordReader => ({
  nodes: fields.map(({ node }) => node),
  names: namesOf(fields.map(({ name }) => name)),
  memberOf: fields.map(() => NONE),
  places: fields.map(() => 0),
  after: fields.map((_, index) => index + 1),
  members: { count: 0, starts: [], ends: [], isOther: [] },
});

/**
 * Writes a record, an object that begins at `open`, as a row, and returns the index behind it. Of members with the same
 * name the last one has the column: a record that has such members sets `repeats`, and is read again with care, which reads
 * each column's member after all others.
 */
export function readRecord(reader: RecordReader, reading: Reading, open: number): number {
  reader.members.count = 0;
  reader.memberOf.fill(NONE);
  const end = readMembers(reader, reading, open);
  readColumns(reader, reading);
  return end;
}

function readMembers(reader: RecordReader, reading: Reading, open: number): number {
  const { nodes, names, memberOf, places, after, members } = reader;
  const { json, isCareful } = reading;
  let expected = 0;
  let last = NONE;
  let at = firstItem(json.bytes, open, CLOSE_OBJECT);
  while (at >= 0) {
    const member = members.count;
    members.count += 1;
    members.starts[member] = at;
    let index = expected;
    if (isNameAt(names, index, json, at)) at += lengthOf(names, index);
    else {
      index = findName(names, reading, at);
      at = reading.behindName;
    }
    const node = nodes[index];
    const earlier = memberOf[index] ?? NONE;
    reading.fits = node !== undefined && earlier === NONE;
    if (earlier !== NONE) [members.isOther[earlier], reading.repeats] = [true, true];
    if (node !== undefined) {
      memberOf[index] = member;
      places[index] = at;
      if (last !== NONE) after[last] = index;
      last = index;
      expected = after[index] ?? 0;
    }
    if (node !== undefined && earlier === NONE && !isCareful) at = readNode(node, reading, at, 0);
    else at = skipDeepValue(json, at, 0);
    members.ends[member] = at;
    members.isOther[member] = !reading.fits;
    at = nextItem(json.bytes, at, CLOSE_OBJECT);
  }
  return ~at;
}

/** The columns that the members did not write. */
function readColumns({ nodes, memberOf, places, members }: RecordReader, reading: Reading): void {
  for (let index = 0; index < nodes.length; index += 1) {
    const node = nodes[index];
    const member = memberOf[index] ?? NONE;
    if (node === undefined) continue;
    if (member === NONE) addToEach(node.levels, 0, 0);
    else if (reading.isCareful) {
      reading.fits = true;
      readNode(node, reading, places[index] ?? 0, 0);
      if (!reading.fits) members.isOther[member] = true;
    }
  }
}

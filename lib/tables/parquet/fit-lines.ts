import {
  type JsonBytes,
  OPEN_OBJECT,
  skipDeepValue,
  skipSpace,
  unexpected,
} from '../../snapshot/page/json-bytes.ts';
import { parseColumnType } from './hive-type.ts';
import { addLevels, addToEach, type Leaf } from './leaf.ts';
import type { Reading } from './names.ts';
import { createNode, type NamedNode, structOf } from './nodes.ts';
import { addInteger, createIntegerLeaf, lastInteger, type NumberLeaf } from './number-leaves.ts';
import { type Members, readObject } from './read-node.ts';
import { addUtf8, createTextLeaf } from './text-leaf.ts';

/** The columns of a table, in order: their names as on the platform, and their types in Hive's notation. */
export type TableColumns = Readonly<Record<string, string>>;

/**
 * Members without a column that have the same value in every line, by their names: its JSON. Only another value is in
 * `_other`.
 */
export type KnownMembers = Readonly<Record<string, string>>;

/** Fits lines to the columns of a table: no value is changed, and none is lost. */
export type LineFitter = {
  /** In the order of the schema, with the rows of the lines that were added. */
  readonly leaves: readonly Leaf[];
  /**
   * Adds the row of the line from `start` up to `end`, of which nothing is used afterwards. Returns how many of its members
   * are in `_other`. Throws `SyntaxError` if it is not JSON, and adds nothing.
   */
  add(json: JsonBytes, start: number, end: number): number;
  /** Forgets all rows. */
  clear(): void;
};

/** The column of the members that have no column of their own, or do not fit it. */
const OTHER = '_other';

/**
 * Makes a fitter. A column of type timestamp is named `FIELD_at`, and is the moment of the epoch milliseconds in `FIELD`.
 * `_other` has, as a JSON object, the members that do not fit, byte for byte and in their order; a line that is JSON but
 * no object is in it as a whole. Any other column has the field of its name. Of members with the same name the last one
 * has the column, and all are in `_other`. Throws `TypeError` if the columns are not like this.
 */
export function createLineFitter(table: TableColumns, known: KnownMembers = {}): LineFitter {
  const { leaves, fields, moments, other } = columnsOf(table, known);
  const record = structOf(fields, 0);
  const members: Members = { count: 0, starts: [], ends: [], isOther: [] };
  /** How many places each leaf has before the line. */
  const places = new Int32Array(leaves.length);
  const levels = leaves.map((leaf) => leaf.levels);
  const reading: Reading = { json: NO_BYTES, fits: true, isCareful: false, repeats: false, behindName: 0 };

  /** Reads the value of a line, and returns the index behind it. */
  function readLine(at: number, isCareful: boolean): number {
    const { json } = reading;
    [reading.isCareful, reading.repeats, members.count] = [isCareful, false, 0];
    if (json.bytes[at] === OPEN_OBJECT) return readObject(record, reading, at, 0, members);
    for (const { node } of fields) addToEach(node.levels, 0, 0);
    const end = skipDeepValue(json, at, 0);
    [members.count, members.starts[0], members.ends[0]] = [0, at, end];
    return end;
  }

  /** The row of a line, without its moments. Returns how many members are in `_other`. */
  function addLine(start: number, end: number): number {
    const { bytes } = reading.json;
    const from = skipSpace(bytes, start);
    let at = readLine(from, false);
    if (reading.repeats) {
      rollBack(leaves, places);
      at = readLine(from, true);
    }
    // Not `!==`: the line feed after the line is space too.
    if (at > end || skipSpace(bytes, at) < end) throw unexpected(bytes, at);
    const others = bytes[from] === OPEN_OBJECT ? countOthers(members) : 1;
    if (others === 0) addLevels(other.levels, 0, 0);
    else addUtf8(other, 0, othersOf(bytes, members));
    return others;
  }

  return {
    leaves,
    add(json, start, end) {
      reading.json = json;
      for (let index = 0; index < levels.length; index += 1) places[index] = levels[index]?.count ?? 0;
      try {
        const others = addLine(start, end);
        for (let index = 0; index < moments.length; index += 1) moments[index]?.();
        return others;
      } catch (error) {
        rollBack(leaves, places);
        throw error;
      }
    },
    clear() {
      for (const leaf of leaves) leaf.clear();
    },
  };
}

function rollBack(leaves: readonly Leaf[], places: Int32Array): void {
  for (const [index, leaf] of leaves.entries()) leaf.rollBack(places[index] ?? 0);
}

const NO_BYTES: JsonBytes = { bytes: Buffer.alloc(0), view: new DataView(new ArrayBuffer(0)) };

/** The leaves of a table, and what writes to them. */
function columnsOf(table: TableColumns, known: KnownMembers) {
  if (table[OTHER] !== 'string') throw new TypeError(`expected a column ${OTHER} of type string`);
  const leaves: Leaf[] = [];
  const fields: NamedNode[] = [];
  const moments: (() => void)[] = [];
  const integers = new Map<string, NumberLeaf>();
  const otherLeaf = createTextLeaf({ path: [OTHER], definition: 1, repetition: 0 });
  for (const [name, type] of Object.entries(table)) {
    const path = [name.toLowerCase()];
    if (name === OTHER) leaves.push(otherLeaf);
    else if (type === 'timestamp') {
      const field = name.replace(/_at$/, '');
      const of = integers.get(field);
      if (of === undefined)
        throw new TypeError(`${name}: expected a column ${field} of type bigint before it`);
      const leaf = createIntegerLeaf({ path, definition: 1, repetition: 0 });
      leaves.push(leaf);
      moments.push(() => addMoment(leaf, of));
    } else {
      const node = createNode(parseColumnType(type), { path, definition: 0, repetition: 0 }, leaves);
      fields.push({ name, node });
      const leaf = leaves.at(-1);
      if (type === 'bigint') integers.set(name, leaf as NumberLeaf);
    }
  }
  for (const [name, json] of Object.entries(known))
    fields.push({ name, node: { kind: 'known', levels: [], parts: Buffer.from(json) } });
  return { leaves, fields, moments, other: otherLeaf.column };
}

/** The years 1 to 9999 in epoch milliseconds: readers disagree about others. */
const [FIRST_MS, LAST_MS] = [-62_135_596_800_000, 253_402_300_799_999];

/** Adds the moment of the epoch milliseconds in the row that was added last. */
function addMoment(leaf: NumberLeaf, of: NumberLeaf): void {
  const epochMs = lastInteger(of.values);
  if (epochMs !== undefined && epochMs >= FIRST_MS && epochMs <= LAST_MS) addInteger(leaf.values, 0, epochMs);
  else addLevels(leaf.levels, 0, 0);
}

function countOthers({ count, isOther }: Members): number {
  let others = 0;
  for (let member = 0; member < count; member += 1) if (isOther[member] === true) others += 1;
  return others;
}

/** A JSON object of the members that do not fit; of a line without members, the line. */
function othersOf(bytes: Buffer, { count, starts, ends, isOther }: Members): Buffer {
  if (count === 0) return bytes.subarray(starts[0], ends[0]);
  const pieces: Buffer[] = [];
  for (let member = 0; member < count; member += 1)
    if (isOther[member] === true)
      pieces.push(pieces.length === 0 ? OPEN : BETWEEN, bytes.subarray(starts[member], ends[member]));
  return Buffer.concat([...pieces, CLOSE]);
}

const [OPEN, BETWEEN, CLOSE] = [Buffer.from('{'), Buffer.from(','), Buffer.from('}')];

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
import { addUtf8, createTextLeaf, jsonBytesOf } from './text-leaf.ts';

/** The columns of a table, in order: their names as on the platform, and their types in Hive's notation. */
export type TableColumns = Readonly<Record<string, string>>;

/** The column of the members that have no column of their own, or do not fit it. */
const OTHER = '_other';

/**
 * Makes what fits lines to the columns of a table: nothing is lost, and no value is changed but half of a surrogate pair. A
 * column of type timestamp is named `FIELD_at`, and is the moment of the epoch milliseconds in `FIELD`; any other has the
 * field of its name. `_other` has, as a JSON object, the members that do not fit, byte for byte and in their order. As a
 * whole it has a line that is JSON but no object, and one in which an object has a name twice: of these the last one counts.
 * Throws `TypeError` if the columns are not like this.
 */
export function createLineFitter(table: TableColumns) {
  const { leaves, fields, moments, other } = columnsOf(table);
  const record = structOf(fields, 0);
  const members: Members = { count: 0, starts: [], ends: [], isOther: [] };
  /** How many places each leaf has before the line. */
  const places = new Int32Array(leaves.length);
  const levels = leaves.map((leaf) => leaf.levels);
  const reading: Reading = { json: NO_BYTES, fits: true, repeats: false, behindName: 0 };

  /** Reads the value of a line, and returns the index behind it. */
  function readLine(json: JsonBytes, at: number): number {
    reading.json = json;
    reading.repeats = false;
    members.count = 0;
    if (json.bytes[at] === OPEN_OBJECT) return readObject(record, reading, at, 0, members);
    for (const { node } of fields) addToEach(node.levels, 0, 0);
    return skipDeepValue(json, at, 0);
  }

  /** The row of a line, without its moments. Returns how many members are in `_other`. */
  function addLine(json: JsonBytes, start: number, end: number): number {
    const { bytes } = json;
    const from = skipSpace(bytes, start);
    const at = readLine(json, from);
    // Not `!==`: the line feed after the line is space too.
    if (at > end || skipSpace(bytes, at) < end) throw unexpected(bytes, at);
    const isWhole = reading.repeats || bytes[from] !== OPEN_OBJECT;
    if (reading.repeats) {
      rollBack(leaves, places);
      readLine(withoutRepeats(bytes.toString('utf8', from, at)), 0);
    }
    const others = isWhole ? 1 : countOthers(members);
    if (others === 0) addLevels(other.levels, 0, 0);
    else addUtf8(other, 0, isWhole ? bytes.subarray(from, at) : othersOf(bytes, members));
    return others;
  }

  return {
    /** In the order of the schema, with the rows of the lines that were added. */
    leaves: leaves as readonly Leaf[],
    /**
     * Adds the row of the line from `start` up to `end`, of which nothing is used afterwards. Returns how many of its
     * members are in `_other`. Throws `SyntaxError` if it is not JSON, and adds nothing.
     */
    add(json: JsonBytes, start: number, end: number): number {
      for (let index = 0; index < levels.length; index += 1) places[index] = levels[index]?.count ?? 0;
      try {
        const others = addLine(json, start, end);
        for (let index = 0; index < moments.length; index += 1) moments[index]?.();
        return others;
      } catch (error) {
        rollBack(leaves, places);
        throw error;
      }
    },
    /** Forgets all rows. */
    clear(): void {
      for (const leaf of leaves) leaf.clear();
    },
  };
}

/** The same JSON with the last of the members of one name alone. */
function withoutRepeats(line: string): JsonBytes {
  const value: unknown = JSON.parse(line, (_name, each, { source }) =>
    typeof each === 'number' ? JSON.rawJSON(source ?? '') : each,
  );
  return jsonBytesOf(Buffer.from(JSON.stringify(value)));
}

function rollBack(leaves: readonly Leaf[], places: Int32Array): void {
  for (const [index, leaf] of leaves.entries()) leaf.rollBack(places[index] ?? 0);
}

const NO_BYTES: JsonBytes = { bytes: Buffer.alloc(0), view: new DataView(new ArrayBuffer(0)) };

/** The leaves of a table, and what writes to them. */
function columnsOf(table: TableColumns) {
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

/** A JSON object of the members that do not fit. */
function othersOf(bytes: Buffer, { count, starts, ends, isOther }: Members): Buffer {
  const pieces: Buffer[] = [];
  for (let member = 0; member < count; member += 1)
    if (isOther[member] === true)
      pieces.push(pieces.length === 0 ? OPEN : BETWEEN, bytes.subarray(starts[member], ends[member]));
  return Buffer.concat([...pieces, CLOSE]);
}

const [OPEN, BETWEEN, CLOSE] = [Buffer.from('{'), Buffer.from(','), Buffer.from('}')];

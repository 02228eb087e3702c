import {
  type JsonBytes,
  jsonBytesOf,
  OPEN_OBJECT,
  skipDeepValue,
  skipSpace,
  unexpected,
} from '../../base/json/index.ts';
import { createEncoder, readObject, structOf } from './column-encoders.ts';
import { parseColumnType, type TableColumns } from './hive-type.ts';
import {
  addInteger,
  addLevels,
  addToEach,
  addUtf8,
  createIntegerLeaf,
  createTextLeaf,
  type Leaf,
  lastInteger,
  type NumberLeaf,
} from './leaf.ts';
import { nameAt, onlyLast, type Reading, withoutRepeats } from './names.ts';
import { addWaiting } from './texts.ts';

/** The column for members that have no column, or do not fit their column. */
const OVERFLOW_COLUMN = '_other';

/**
 * Creates a fitter of JSON lines to the columns of a table. No value is lost or changed, except lone surrogates. A
 * timestamp column `FIELD_at` has the same time as the epoch milliseconds in `FIELD`. `_other` has the members that do not
 * fit, as a JSON object, in order and with the same bytes, except for the space between members if a name is repeated.
 * If the line is not an object, `_other` has the line itself. If a name is repeated, at any depth, the last member with
 * it is used. Throws `TypeError` for unsupported columns.
 */
export function createLineFitter(table: TableColumns) {
  const { leaves, fieldLeaves, fields, moments, other } = columnsOf(table);
  const record = structOf(fields, 0);
  const reading: Reading = {
    json: jsonBytesOf(Buffer.alloc(0)),
    matchesSchema: true,
    repeats: false,
    afterName: 0,
  };
  const overflow: number[] = [];
  const texts = leaves.flatMap((leaf) =>
    'column' in leaf ? [(leaf as ReturnType<typeof createTextLeaf>).column.texts] : [],
  );

  /** Removes the last row, and reads its line again with only the last member of each name. */
  function readOnlyLast(json: JsonBytes, from: number): void {
    for (const leaf of fieldLeaves) leaf.dropRow();
    const { json: read, spans } = onlyLast(json, from);
    overflow.length = 0;
    reading.json = read;
    readObject(record, reading, 0, 0, overflow);
    for (const each of texts) addWaiting(each);
    const names = overflow.flatMap((at, index) => (index % 2 === 0 ? [nameAt(read, at)] : []));
    // Members that do not fit are stored with their original bytes.
    overflow.splice(0, overflow.length, ...names.flatMap((name) => spans.get(name) ?? []));
  }

  function addOverflow(rest: Buffer): void {
    addUtf8(other, 0, withoutRepeats(jsonBytesOf(rest), 0) ?? rest);
  }

  return {
    /** The leaves of the schema, in order, with the rows of the lines that were added. */
    leaves: leaves as readonly Leaf[],
    /**
     * Adds the row of the line from `start` up to, but not including, `end`; the line is not used afterwards. Returns
     * how many of its members are in `_other`. If it is not JSON, throws `SyntaxError`, and an incomplete row stays.
     */
    add(json: JsonBytes, start: number, end: number): number {
      const { bytes } = json;
      const from = skipSpace(bytes, start);
      const isObject = bytes[from] === OPEN_OBJECT;
      overflow.length = 0;
      reading.json = json;
      reading.repeats = false;
      const at = isObject ? readObject(record, reading, from, 0, overflow) : skipDeepValue(json, from, 0);
      // `<` rather than `!==`: skipSpace also skips the line feed, and may stop one byte after `end`.
      if (at > end || skipSpace(bytes, at) < end) throw unexpected(bytes, at);
      if (reading.repeats || hasRepeats(json, overflow)) readOnlyLast(json, from);
      if (!isObject) for (const { node } of fields) addToEach(node.levels, 0, 0);
      for (let index = 0; index < moments.length; index += 1) moments[index]?.();
      for (let index = 0; index < texts.length; index += 1) addWaiting(texts[index] ?? other.texts);
      if (isObject && overflow.length === 0) addLevels(other.levels, 0, 0);
      else addOverflow(isObject ? overflowOf(bytes, overflow) : bytes.subarray(from, at));
      return isObject ? overflow.length / 2 : 1;
    },
  };
}

function columnsOf(table: TableColumns) {
  if (table[OVERFLOW_COLUMN] !== 'string')
    throw new TypeError(`expected a column ${OVERFLOW_COLUMN} of type string`);
  const leaves: Leaf[] = [];
  /** The leaves of the columns for the record's fields. */
  const fieldLeaves: Leaf[] = [];
  const fields: Parameters<typeof structOf>[0][number][] = [];
  const moments: (() => void)[] = [];
  const integers = new Map<string, NumberLeaf>();
  const overflowLeaf = createTextLeaf({ path: [OVERFLOW_COLUMN], definition: 1, repetition: 0 });
  for (const [name, type] of Object.entries(table)) {
    const path = [name.toLowerCase()];
    if (name === OVERFLOW_COLUMN) leaves.push(overflowLeaf);
    else if (type === 'timestamp') {
      const field = name.replace(/_at$/, '');
      const of = integers.get(field);
      if (of === undefined)
        throw new TypeError(`${name}: expected a column ${field} of type bigint before it`);
      const leaf = createIntegerLeaf({ path, definition: 1, repetition: 0 });
      leaves.push(leaf);
      moments.push(() => addMoment(leaf, of));
    } else {
      const before = leaves.length;
      const node = createEncoder(parseColumnType(type), { path, definition: 0, repetition: 0 }, leaves);
      fieldLeaves.push(...leaves.slice(before));
      fields.push({ name, node });
      const leaf = leaves.at(-1);
      if (type === 'bigint') integers.set(name, leaf as NumberLeaf);
    }
  }
  return { leaves, fieldLeaves, fields, moments, other: overflowLeaf.column };
}

/** The first and the last millisecond of the years 1 to 9999. Readers disagree about earlier and later years. */
const FIRST_MS = -62_135_596_800_000;
const LAST_MS = 253_402_300_799_999;

/** Adds the epoch milliseconds that the last row has in `of` as a timestamp; null if they are out of range. */
function addMoment(leaf: NumberLeaf, of: NumberLeaf): void {
  const epochMs = lastInteger(of.values);
  if (epochMs !== undefined && epochMs >= FIRST_MS && epochMs <= LAST_MS) addInteger(leaf.values, 0, epochMs);
  else addLevels(leaf.levels, 0, 0);
}

/** Whether two of the members that do not fit have the same name. */
function hasRepeats(json: JsonBytes, spans: readonly number[]): boolean {
  if (spans.length < 4) return false;
  const names = new Set<unknown>();
  for (let at = 0; at < spans.length; at += 2) names.add(nameAt(json, spans[at] ?? 0));
  return 2 * names.size < spans.length;
}

function overflowOf(bytes: Buffer, spans: readonly number[]): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < spans.length; at += 2)
    pieces.push(at === 0 ? OPEN : BETWEEN, bytes.subarray(spans[at], spans[at + 1]));
  return Buffer.concat([...pieces, CLOSE]);
}

const OPEN = Buffer.from('{');
const BETWEEN = Buffer.from(',');
const CLOSE = Buffer.from('}');

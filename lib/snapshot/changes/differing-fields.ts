import { canonicalExact } from '../../base/index.ts';
import { QUOTE, skipValue } from '../page/json-bytes.ts';
import type { RecordRules } from '../sources/source-definition.ts';
import { comparable, fieldTexts } from './deep-lines.ts';
import { createKeyAt, isWhole } from './line-key.ts';
import { createNames, isLastOfName, type LineMembers, noMembers, readMembers } from './line-members.ts';
import type { Line } from './line-reader.ts';

/** The rules by which records are compared. */
export type FieldRules = Pick<RecordRules, 'volatile' | 'sets'>;

/**
 * Makes a function that returns the top-level fields in which two lines with the same key differ, in the order of their
 * names: volatile ones left out, listed arrays as sets, numbers by their exact value. Where both have the same fields
 * in the same order, as records of one platform do, values are compared as bytes and only those that differ are parsed.
 */
export function createDifferingFields(rules: FieldRules): (before: Line, after: Line) => readonly string[] {
  const members = noMembers();
  const values = noValues();
  return (before, after) => {
    if (isSameText(before, after)) return NONE;
    return (
      fieldsOfLikeLines(before, after, rules, members, values) ?? differingOneByOne(before, after, rules)
    );
  };
}

/** Two lines of one record: its key, and the top-level fields that differ, sorted. */
export type Pair = { key: string; fields: readonly string[] };

export const noPair = (): Pair => ({ key: '', fields: NONE });

/**
 * Makes a function that reads a line of each run together, and replaces what `into` held; false if they are not certain
 * to be the same record, or have to be read one by one because they are unusual. Only the line before is read as JSON
 * to its end; of the line after, only the values that differ.
 */
export function createPairReader(rules: RecordRules): (before: Line, after: Line, into: Pair) => boolean {
  const members = noMembers();
  const values = noValues();
  const keyAt = createKeyAt(rules.key);
  const ofKey = [...(rules.key.owner ?? []), rules.key.id];
  return (before, after, into) => {
    const fields = fieldsOfLikeLines(before, after, rules, members, values);
    if (fields === undefined) return false;
    for (let index = 0; index < values.count; index += 1)
      if (ofKey.includes(values.names[index] ?? '')) return false;
    const key = keyAt(before, members);
    if (key === undefined) return false;
    into.key = key;
    into.fields = fields;
    return true;
  };
}

const NONE: readonly string[] = [];

/** Values that differ between two lines with the same fields: their names and positions, and where they are in the later line. */
type DifferingValues = {
  count: number;
  readonly nameAt: ReturnType<typeof createNames>;
  readonly names: string[];
  readonly positions: number[];
  readonly starts: number[];
  readonly ends: number[];
};

const noValues = (): DifferingValues => ({
  count: 0,
  nameAt: createNames(),
  names: [],
  positions: [],
  starts: [],
  ends: [],
});

/** The fields that differ, of lines with the same fields in the same order; undefined for all others, and unusual ones. */
function fieldsOfLikeLines(
  before: Line,
  after: Line,
  { volatile, sets }: FieldRules,
  members: LineMembers,
  values: DifferingValues,
): readonly string[] | undefined {
  try {
    readMembers(before, members);
    if (!findDifferingValues(before, members, after, values)) return undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
  let changed = NONE;
  for (let index = 0; index < values.count; index += 1) {
    const at = values.positions[index] ?? 0;
    const name = values.nameAt(before, members, at);
    values.names[index] = name;
    if (!isLastOfName(before, members, at)) return undefined;
    if (volatile.includes(name)) continue;
    const value = { line: before, start: members.valueStarts[at] ?? 0, end: members.valueEnds[at] ?? 0 };
    const now = { line: after, start: values.starts[index] ?? 0, end: values.ends[index] ?? 0 };
    if (isChanged(value, now, sets.includes(name))) changed = [...changed, name];
  }
  return changed.length < 2 ? changed : [...changed].sort();
}

/** Members of a record are values within one object. */
const DEPTH = 1;

/**
 * Finds the values of `after` whose bytes differ from those of `before`; false if anything else differs. Only those
 * values are read as JSON: if the rest has the same bytes, then `after` has the same members in the same order, and is
 * valid because `before` is. Throws `SyntaxError`.
 */
function findDifferingValues(
  before: Line,
  { count, valueStarts, valueEnds }: LineMembers,
  after: Line,
  into: DifferingValues,
): boolean {
  into.count = 0;
  /** Up to here both lines are understood. */
  let [at, nowAt] = [before.start, after.start];
  for (let position = 0; position < count; position += 1) {
    const [start, end] = [valueStarts[position] ?? 0, valueEnds[position] ?? 0];
    // With the byte after it, since the other value may be longer.
    if (isSame(before, at, end + 1, after, nowAt)) {
      nowAt += end - at;
      at = end;
      continue;
    }
    if (!isSame(before, at, start, after, nowAt)) return false;
    const nowStart = nowAt + start - at;
    nowAt = skipValue(after.json, nowStart, DEPTH);
    at = end;
    into.positions[into.count] = position;
    into.starts[into.count] = nowStart;
    into.ends[into.count] = nowAt;
    into.count += 1;
  }
  return before.end - at === after.end - nowAt && isSame(before, at, before.end, after, nowAt);
}

/** True if the lines have the same bytes. */
export const isSameText = (a: Line, b: Line): boolean =>
  a.end - a.start === b.end - b.start && isSame(a, a.start, a.end, b, b.start);

/** Up to here a loop is faster than a call out of JavaScript. */
const LOOPED_BYTES = 64;

/** True if the bytes of `a` from `start` up to `end` are those of `b` from `other` on. */
function isSame(a: Line, start: number, end: number, b: Line, other: number): boolean {
  const [left, right] = [a.json.bytes, b.json.bytes];
  const length = end - start;
  if (length > LOOPED_BYTES) {
    // The line feed after the line is in these bytes too.
    if (other + length > b.end + 1) return false;
    return left.compare(right, other, other + length, start, end) === 0;
  }
  for (let at = 0; at < length; at += 1) if (left[start + at] !== right[other + at]) return false;
  return true;
}

/** A value in a line. */
type Value = { readonly line: Line; readonly start: number; readonly end: number };

/** True if two values with different bytes differ. */
function isChanged(before: Value, after: Value, isSet: boolean): boolean {
  if (isPlain(before, isWhole) && isPlain(after, isWhole)) return true;
  if (isPlain(before, isPlainText) && isPlain(after, isPlainText)) return true;
  return canonicalField(textAt(before), isSet) !== canonicalField(textAt(after), isSet);
}

const isPlain = ({ line, start, end }: Value, is: typeof isWhole): boolean => is(line.json.bytes, start, end);

const BACKSLASH = 0x5c;

/** True if the bytes, which are a JSON value, are a text of ASCII without escapes: then other bytes are another value. */
function isPlainText(bytes: Buffer, start: number, end: number): boolean {
  if (bytes[start] !== QUOTE) return false;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? BACKSLASH;
    if (byte === BACKSLASH || byte >= 0x80) return false;
  }
  return true;
}

const textAt = ({ line, start, end }: Value): string => line.json.bytes.toString('utf8', start, end);

/** The fields that differ between lines of any layout. */
function differingOneByOne(before: Line, after: Line, { volatile, sets }: FieldRules): readonly string[] {
  const [old, now] = [fieldTexts(before), fieldTexts(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !volatile.includes(name));
  const print = (text: string | undefined, name: string) => text && canonicalField(text, sets.includes(name));
  return names.filter((name) => print(old.get(name), name) !== print(now.get(name), name)).sort();
}

/** A field in a form in which equal values are alike. One that is beyond the limits of JSON is compared as bytes. */
const canonicalField = (text: string, isSet: boolean): string =>
  comparable(text, (value) => {
    if (!isSet || !Array.isArray(value)) return canonicalExact(value);
    return `[${[...new Set(value.map(canonicalExact))].sort().join(',')}]`;
  });

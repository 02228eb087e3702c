import { canonicalExact, holdsMoreValues, parseExact } from '../../base/index.ts';
import { skipValue } from '../page/json-bytes.ts';
import type { RecordRules } from '../sources/source-definition.ts';
import {
  isPlain,
  lastNamed,
  nameAt,
  type ReadLine,
  readLine,
  valueAt,
  valuesByName,
} from './line-members.ts';
import { bytesOf, type Line } from './line-reader.ts';

/** The most values of a field that is compared by its value: millions of them would take gigabytes. */
const MOST_VALUES = 100_000;

/** The top-level fields that differ, by name: without volatile ones, listed arrays as sets, numbers by their exact value. */
export const differingFields = (rules: RecordRules, before: ReadLine, after: Line): readonly string[] =>
  isSameText(before.line, after)
    ? NO_FIELDS
    : (differingInPlace(rules, before, after) ?? differingByName(rules, before, readLine(bytesOf(after))));

const NO_FIELDS: readonly string[] = [];

/**
 * The same for lines with the same names in the same order; undefined for others, if a name is repeated, or if they may
 * be different records. Of the line after, only values with other bytes are read: the rest is as valid as the line
 * before.
 */
export function differingInPlace(
  { key, volatile, sets }: RecordRules,
  before: ReadLine,
  after: Line,
): readonly string[] | undefined {
  const { line, members } = before;
  if (members.hasEscapes) return undefined;
  let changed = NO_FIELDS;
  /** Up to here both lines are understood. */
  let [at, nowAt] = [line.start, after.start];
  for (let position = 0; position < members.count; position += 1) {
    const [start, end] = [members.valueStarts[position] ?? 0, members.valueEnds[position] ?? 0];
    // With the byte after it, since the other value may be longer.
    if (isSame(line, at, end + 1, after, nowAt)) {
      nowAt += end - at;
      at = end;
      continue;
    }
    if (!isSame(line, at, start, after, nowAt)) return undefined;
    const nowStart = nowAt + start - at;
    const nowEnd = valueEnd(after, nowStart);
    if (nowEnd === undefined) return undefined;
    [at, nowAt] = [end, nowEnd];
    const name = nameAt(before, position);
    if (name === key.id || key.owner?.includes(name)) return undefined;
    const [nameStart, nameEnd] = [members.nameStarts[position] ?? 0, members.nameEnds[position] ?? 0];
    if (lastNamed(before, line.json.bytes, nameStart + 1, nameEnd - 1) !== position) return undefined;
    if (volatile.includes(name)) continue;
    const arePlain = isPlain(line, start, end) && isPlain(after, nowStart, nowEnd);
    const now = arePlain ? '' : after.json.bytes.toString('utf8', nowStart, nowEnd);
    if (arePlain || isChanged(valueAt(before, position), now, sets.includes(name)))
      changed = [...changed, name];
  }
  if (line.end - at !== after.end - nowAt || !isSame(line, at, line.end, after, nowAt)) return undefined;
  return changed.length < 2 ? changed : [...changed].sort();
}

function valueEnd({ json }: Line, start: number): number | undefined {
  try {
    return skipValue(json, start, 0);
  } catch {
    return undefined;
  }
}

/** The same for lines of any layout. */
export function differingByName({ volatile, sets }: RecordRules, before: ReadLine, after: ReadLine) {
  const [old, now] = [valuesByName(before), valuesByName(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !volatile.includes(name));
  return names.filter((name) => isChanged(old.get(name), now.get(name), sets.includes(name))).sort();
}

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

function isChanged(before: string | undefined, after: string | undefined, isSet: boolean): boolean {
  if (before === after) return false;
  if (before === undefined || after === undefined) return true;
  return canonicalField(before, isSet) !== canonicalField(after, isSet);
}

function canonicalField(text: string, isSet: boolean): string {
  const value = exactValue(text);
  if (value === text) return text;
  if (!isSet || !Array.isArray(value)) return canonicalExact(value);
  return `[${[...new Set(value.map(canonicalExact))].sort().join(',')}]`;
}

/** A field with exact numbers; of one with too many values to be parsed, the text. */
export const exactValue = (text: string): unknown =>
  holdsMoreValues(text, MOST_VALUES) ? text : parseExact(text);

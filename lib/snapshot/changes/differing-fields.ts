import { skipValue } from '../../base/bytes/index.ts';
import { canonicalExact, holdsMoreValues, parseExact } from '../../base/json/index.ts';
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
const MAX_VALUES = 100_000;

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
  /** Up to here both lines are understood, and up to there they are the same. */
  let [at, nowAt] = [line.start, after.start];
  let same = sameUntil(line, at, after, nowAt);
  for (let position = 0; position < members.count; position += 1) {
    const [start, end] = [members.valueStarts[position] ?? 0, members.valueEnds[position] ?? 0];
    // With the byte after it, since the other value may be longer.
    if (end < same) continue;
    if (start > same) return undefined;
    const nowStart = nowAt + start - at;
    const nowEnd = valueEnd(after, nowStart);
    if (nowEnd === undefined) return undefined;
    [at, nowAt] = [end, nowEnd];
    same = sameUntil(line, at, after, nowAt);
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
  if (same < line.end || line.end - at !== after.end - nowAt) return undefined;
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
  a.end - a.start === b.end - b.start &&
  a.json.bytes.compare(b.json.bytes, b.start, b.end, a.start, a.end) === 0;

/** Where line `a` differs for the first time, from `start` on, from `b` from `other` on; at most the end of one of them. */
function sameUntil(a: Line, start: number, b: Line, other: number): number {
  const [left, right] = [a.json, b.json];
  const shift = other - start;
  const end = Math.min(a.end, b.end - shift);
  let at = start;
  while (at + 4 <= end && left.view.getInt32(at) === right.view.getInt32(at + shift)) at += 4;
  while (at < end && left.bytes[at] === right.bytes[at + shift]) at += 1;
  return at;
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
  holdsMoreValues(text, MAX_VALUES) ? text : parseExact(text);

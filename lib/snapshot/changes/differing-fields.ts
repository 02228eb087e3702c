import { canonicalExact, parseExact } from '../../json/exact-json.ts';
import { skipValue } from '../page/json-bytes.ts';
import type { RecordRules } from '../sources/source-definition.ts';
import { hasEscape, isNamed, type LineMembers, nameAt, noMembers, readMembers } from './line-members.ts';
import type { Line } from './line-reader.ts';

/** The rules by which records are compared. */
export type FieldRules = Pick<RecordRules, 'volatile' | 'sets'>;

const NONE: readonly string[] = [];

/**
 * Makes a function that returns the top-level fields in which two lines with the same key differ, in the order of their
 * names: volatile ones left out, listed arrays as sets, numbers by their exact value. Where both have the same fields
 * in the same order, as records of one platform do, values are compared as bytes and only those that differ are parsed.
 */
export function createDifferingFields(rules: FieldRules): (before: Line, after: Line) => readonly string[] {
  const [old, now] = [noMembers(), noMembers()];
  const volatile = rules.volatile.map((name) => Buffer.from(`"${name}"`));
  return (before, after) => {
    if (isSameText(before, after)) return NONE;
    try {
      readMembers(before, old);
      if (isSameButVolatile(before, old, after, volatile)) return NONE;
      readMembers(after, now);
    } catch {
      // Nested deeper than bytes are followed.
      return differingParsed(before, after, rules);
    }
    const differing = differingInPlace(before, old, after, now);
    if (differing === undefined) return differingParsed(before, after, rules);
    if (differing.length === 0) return NONE;
    return differing
      .filter((at) => isChanged(before, old, after, now, at, rules))
      .map((at) => nameAt(before, old, at))
      .sort();
  };
}

/** True if the lines have the same bytes except for the values of volatile fields, in the same places. */
function isSameButVolatile(
  before: Line,
  old: LineMembers,
  after: Line,
  volatile: readonly Buffer[],
): boolean {
  let [from, nowFrom] = [before.start, after.start];
  for (let at = 0; volatile.length > 0 && at < old.count; at += 1) {
    if (!volatile.some((name) => isNamed(before, old, at, name))) continue;
    const value = old.valueStarts[at] ?? 0;
    const nowValue = nowFrom + value - from;
    if (nowValue >= after.end || !isSame(before, from, value, after, nowFrom, nowValue)) return false;
    from = old.valueEnds[at] ?? 0;
    nowFrom = skipValue(after.json, nowValue, 1);
  }
  return isSame(before, from, before.end, after, nowFrom, after.end);
}

/** True if the lines have the same bytes. */
export function isSameText(a: Line, b: Line): boolean {
  return a.end - a.start === b.end - b.start && isSame(a, a.start, a.end, b, b.start, b.end);
}

function isSame(a: Line, aStart: number, aEnd: number, b: Line, bStart: number, bEnd: number): boolean {
  const length = aEnd - aStart;
  if (length !== bEnd - bStart) return false;
  if (length > LOOPED_BYTES) return a.json.bytes.compare(b.json.bytes, bStart, bEnd, aStart, aEnd) === 0;
  const [left, right] = [a.json.bytes, b.json.bytes];
  for (let at = 0; at < length; at += 1) if (left[aStart + at] !== right[bStart + at]) return false;
  return true;
}

/** Up to here a loop is faster than a call out of JavaScript. */
const LOOPED_BYTES = 64;

/**
 * The positions of the members whose values have other bytes; undefined if the lines do not have the same names in the
 * same order, or if a name that may occur twice has to be decoded to know.
 */
function differingInPlace(
  before: Line,
  old: LineMembers,
  after: Line,
  now: LineMembers,
): number[] | undefined {
  if (old.count !== now.count) return undefined;
  const differing: number[] = [];
  for (let at = 0; at < old.count; at += 1) {
    const [oldStart, oldEnd] = [old.nameStarts[at] ?? 0, old.nameEnds[at] ?? 0];
    if (!isSame(before, oldStart, oldEnd, after, now.nameStarts[at] ?? 0, now.nameEnds[at] ?? 0))
      return undefined;
    const [start, end] = [old.valueStarts[at] ?? 0, old.valueEnds[at] ?? 0];
    if (!isSame(before, start, end, after, now.valueStarts[at] ?? 0, now.valueEnds[at] ?? 0))
      differing.push(at);
  }
  return differing.every((at) => isUnique(before, old, at)) ? differing : undefined;
}

/** True if no other member can have the name of the one at `wanted`. */
function isUnique(line: Line, members: LineMembers, wanted: number): boolean {
  const [start, end] = [members.nameStarts[wanted] ?? 0, members.nameEnds[wanted] ?? 0];
  for (let at = 0; at < members.count; at += 1) {
    const [otherStart, otherEnd] = [members.nameStarts[at] ?? 0, members.nameEnds[at] ?? 0];
    if (hasEscape(line.json.bytes, otherStart, otherEnd)) return false;
    if (at !== wanted && isSame(line, start, end, line, otherStart, otherEnd)) return false;
  }
  return true;
}

function isChanged(
  before: Line,
  old: LineMembers,
  after: Line,
  now: LineMembers,
  at: number,
  { volatile, sets }: FieldRules,
): boolean {
  const name = nameAt(before, old, at);
  if (volatile.includes(name)) return false;
  const isSet = sets.includes(name);
  return canonicalAt(before, old, at, isSet) !== canonicalAt(after, now, at, isSet);
}

const canonicalAt = ({ json: { bytes } }: Line, members: LineMembers, at: number, isSet: boolean): string =>
  canonicalField(parseExact(bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at])), isSet);

/** The same for lines of any layout. */
function differingParsed(before: Line, after: Line, { volatile, sets }: FieldRules): readonly string[] {
  const [old, now] = [parsedFields(before), parsedFields(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !volatile.includes(name));
  const print = (fields: ReadonlyMap<string, unknown>, name: string) =>
    fields.has(name) ? canonicalField(fields.get(name), sets.includes(name)) : undefined;
  return names.filter((name) => print(old, name) !== print(now, name)).sort();
}

const parsedFields = ({ json, start, end }: Line): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(parseExact(json.bytes.toString('utf8', start, end)) as object));

function canonicalField(value: unknown, isSet: boolean): string {
  if (!isSet || !Array.isArray(value)) return canonicalExact(value);
  return `[${[...new Set(value.map(canonicalExact))].sort().join(',')}]`;
}

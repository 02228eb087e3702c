import { canonicalExact, parseExact } from '../../json/exact-json.ts';
import type { RecordRules } from '../sources/source-definition.ts';
import { comparable, fieldTexts, isBeyondLimits } from './deep-lines.ts';
import {
  type DifferingValues,
  findDifferingValues,
  isSameText,
  noDifferingValues,
} from './differing-values.ts';
import { createLayoutReader, noPlaces, type ValuePlaces } from './line-layout.ts';
import type { Line } from './line-reader.ts';
import { isPlainText, isWhole } from './record-layout.ts';

/** The rules by which records are compared. */
export type FieldRules = Pick<RecordRules, 'volatile' | 'sets'>;

const NONE: readonly string[] = [];

/** What the comparison of two lines needs to know about their names. */
export type ComparedLayout = {
  readonly names: readonly string[];
  /** True if no name occurs twice: of members with the same name, the last would count. */
  readonly areUnique: boolean;
  readonly isVolatile: readonly boolean[];
  readonly isSet: readonly boolean[];
};

export const comparedLayout = ({ volatile, sets }: FieldRules, names: readonly string[]): ComparedLayout => ({
  names,
  areUnique: new Set(names).size === names.length,
  isVolatile: names.map((name) => volatile.includes(name)),
  isSet: names.map((name) => sets.includes(name)),
});

/**
 * Makes a function that returns the top-level fields in which two lines with the same key differ, in the order of their
 * names: volatile ones left out, listed arrays as sets, numbers by their exact value. Where both have the same fields
 * in the same order, as records of one platform do, values are compared as bytes and only those that differ are parsed.
 */
export function createDifferingFields(rules: FieldRules): (before: Line, after: Line) => readonly string[] {
  const places = noPlaces();
  const differing = noDifferingValues();
  const readLayout = createLayoutReader((names) => comparedLayout(rules, names));
  return (before, after) => {
    if (isSameText(before, after)) return NONE;
    try {
      const layout = readLayout(before, places);
      if (layout.areUnique && findDifferingValues(before, places, layout.names.length, after, differing))
        return namesOfChanged(before, places, layout, after, differing);
    } catch {
      // Nested deeper than bytes are followed.
    }
    return differingParsed(before, after, rules);
  };
}

/** The names of the values that are not only written in another way, sorted. */
export function namesOfChanged(
  before: Line,
  { starts, ends }: ValuePlaces,
  { names, isVolatile, isSet }: ComparedLayout,
  after: Line,
  differing: DifferingValues,
): readonly string[] {
  let changed = NONE;
  for (let index = 0; index < differing.count; index += 1) {
    const at = differing.positions[index] ?? 0;
    if (isVolatile[at]) continue;
    const value = { line: before, start: starts[at] ?? 0, end: ends[at] ?? 0 };
    const now = { line: after, start: differing.starts[index] ?? 0, end: differing.ends[index] ?? 0 };
    if (isChanged(value, now, isSet[at] ?? false)) changed = [...changed, names[at] ?? ''];
  }
  return changed.length < 2 ? changed : [...changed].sort();
}

/** A value in a line. */
type Value = { readonly line: Line; readonly start: number; readonly end: number };

/** True if two values with different bytes differ. */
function isChanged(before: Value, after: Value, isSet: boolean): boolean {
  if (isPlain(before, isWhole) && isPlain(after, isWhole)) return true;
  if (isPlain(before, isPlainText) && isPlain(after, isPlainText)) return true;
  return canonicalAt(before, isSet) !== canonicalAt(after, isSet);
}

const isPlain = ({ line, start, end }: Value, is: typeof isWhole): boolean => is(line.json.bytes, start, end);

const canonicalAt = ({ line, start, end }: Value, isSet: boolean): string =>
  comparable(line.json.bytes.toString('utf8', start, end), (value) => canonicalField(value, isSet));

/** The fields that differ between lines of any layout. */
function differingParsed(before: Line, after: Line, rules: FieldRules): readonly string[] {
  const { volatile, sets } = rules;
  if (isBeyondLimits(textOf(before)) || isBeyondLimits(textOf(after)))
    return differingOneByOne(before, after, rules);
  const [old, now] = [parsedFields(before), parsedFields(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !volatile.includes(name));
  const print = (fields: ReadonlyMap<string, unknown>, name: string) =>
    fields.has(name) ? canonicalField(fields.get(name), sets.includes(name)) : undefined;
  return names.filter((name) => print(old, name) !== print(now, name)).sort();
}

/** The same if one of them is beyond the limits: its fields that are so are compared as bytes. */
function differingOneByOne(before: Line, after: Line, { volatile, sets }: FieldRules): readonly string[] {
  const [old, now] = [fieldTexts(before), fieldTexts(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((name) => !volatile.includes(name));
  const print = (text: string | undefined, name: string) =>
    text && comparable(text, (value) => canonicalField(value, sets.includes(name)));
  return names.filter((name) => print(old.get(name), name) !== print(now.get(name), name)).sort();
}

const textOf = ({ json, start, end }: Line): string => json.bytes.toString('utf8', start, end);

const parsedFields = (line: Line): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(parseExact(textOf(line)) as object));

function canonicalField(value: unknown, isSet: boolean): string {
  if (!isSet || !Array.isArray(value)) return canonicalExact(value);
  return `[${[...new Set(value.map(canonicalExact))].sort().join(',')}]`;
}

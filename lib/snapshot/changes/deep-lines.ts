import {
  holdsMoreValues,
  isDeeperThan,
  JsonLimitError,
  MAX_DEPTH,
  parseExact,
  parseJson,
} from '../../base/index.ts';
import { StoredObjectError } from '../../store/index.ts';
import { nameAt, noMembers, readMembers } from './line-members.ts';
import type { Line, LineReader } from './line-reader.ts';

/*
 * Lines may be nested deeper than JSON is read, or hold millions of values, which take gigabytes once they are parsed.
 * They block nothing: each of their fields that is within the limits is read as always, and the others are compared as
 * bytes.
 */

/** The most values of a field that is compared by its value. */
const MOST_VALUES = 100_000;

/** True if a line or a field is nested deeper, or holds more values, than are parsed. */
export const isBeyondLimits = (text: string): boolean =>
  isDeeperThan(text, MAX_DEPTH) || holdsMoreValues(text, MOST_VALUES);

/** The texts of a line's top-level fields by name; of fields with the same name, the last counts. */
export function fieldTexts(line: Line): ReadonlyMap<string, string> {
  const members = noMembers();
  readMembers(line, members);
  return new Map(
    Array.from({ length: members.count }, (_, at) => [
      nameAt(line, members, at),
      line.json.bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at]),
    ]),
  );
}

/**
 * The record of a reader's current line, without fields that are beyond the limits of JSON. Throws `StoredObjectError`
 * that names the line if it is not JSON.
 */
export function parsedLine({ line, place }: LineReader): unknown {
  try {
    const value = readable(line.json.bytes.toString('utf8', line.start, line.end), MOST_VALUES);
    return value === undefined ? readableFields(line) : value;
  } catch (cause) {
    throw new StoredObjectError('invalid', `${place()}: expected a record as JSON, got something else`, {
      cause,
    });
  }
}

/** The fields of a line that are within the limits of JSON, parsed. */
function readableFields(line: Line): Readonly<Record<string, unknown>> {
  const fields: [name: string, value: unknown][] = [];
  for (const [name, text] of fieldTexts(line)) {
    const value = readable(text, MOST_VALUES);
    if (value !== undefined) fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

/** The most values of a field that ids are taken from. */
const MOST_READ_VALUES = 2_000_000;

/** A value within the limits of JSON, parsed; undefined for any other. */
export function readable(text: string, mostValues = MOST_READ_VALUES): unknown {
  if (holdsMoreValues(text, mostValues)) return undefined;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonLimitError) return undefined;
    throw error;
  }
}

/** The fields of a line with exact numbers; those beyond the limits as text. */
export const exactFields = (line: Line): ReadonlyMap<string, unknown> =>
  new Map(
    Array.from(fieldTexts(line), ([name, text]) => [name, isBeyondLimits(text) ? text : parseExact(text)]),
  );

/** A field's text in a form in which equal values are alike, unless it is beyond the limits: then it is the text. */
export const comparable = (text: string, print: (value: unknown) => string): string =>
  isBeyondLimits(text) ? text : print(parseExact(text));

import { parseExact } from '../../json/exact-json.ts';
import { parseJson } from '../../json/json.ts';
import { isDeeperThan, JsonLimitError, MAX_DEPTH } from '../../json/json-limits.ts';
import { nameAt, noMembers, readMembers } from './line-members.ts';
import type { Line } from './line-reader.ts';

/*
 * Lines of runs that earlier versions published may be nested deeper than JSON is read today. They block nothing: each
 * of their fields that is within the limits is read as always, and the others are compared as bytes.
 */

/** True if a line is nested deeper than JSON is read. */
export const isDeepLine = (text: string): boolean => isDeeperThan(text, MAX_DEPTH);

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

/** The fields of a line that are within the limits of JSON, parsed. */
export function readableFields(line: Line): Readonly<Record<string, unknown>> {
  const fields: [name: string, value: unknown][] = [];
  for (const [name, text] of fieldTexts(line)) {
    const value = readable(text);
    if (value !== undefined) fields.push([name, value]);
  }
  return Object.fromEntries(fields);
}

/** A value within the limits of JSON, parsed; undefined for any other. */
export function readable(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonLimitError) return undefined;
    throw error;
  }
}

/** The fields of a line with exact numbers; those that are too deep as text. */
export const exactFields = (line: Line): ReadonlyMap<string, unknown> =>
  new Map(Array.from(fieldTexts(line), ([name, text]) => [name, isDeepLine(text) ? text : parseExact(text)]));

/** A field's text in a form in which equal values are alike, unless it is too deep: then it is the text. */
export const comparable = (text: string, print: (value: unknown) => string): string =>
  isDeepLine(text) ? text : print(parseExact(text));

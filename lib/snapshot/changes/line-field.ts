import { readable } from './deep-lines.ts';
import { lastNamed, NONE, noMembers, quotedName, readMembers } from './line-members.ts';
import type { LineReader } from './line-reader.ts';
import { parsedLine } from './parsed-line.ts';

/**
 * Makes a function that returns one top-level field of a reader's current line, parsed as `parseJson` does; undefined if
 * the record has no such field, is not an object, or has one that is beyond the limits of JSON. Nothing else of the line is parsed, but all of it is validated.
 * Throws `StoredObjectError` that names a line that is not JSON.
 */
export function createLineField(name: string): (reader: LineReader) => unknown {
  const members = noMembers();
  const wanted = quotedName(name);
  return (reader) => {
    const { line } = reader;
    try {
      readMembers(line, members);
    } catch {
      // Not an object, or not JSON.
      return membersOf(parsedLine(reader))[name];
    }
    const at = lastNamed(line, members, wanted);
    if (at === NONE) return undefined;
    return readable(line.json.bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at]));
  };
}

/** The members of any value; none if it is not an object. */
function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

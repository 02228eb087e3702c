import { parsedLine, readable } from './deep-lines.ts';
import {
  type LineMembers,
  lastNamed,
  NONE,
  noMembers,
  type QuotedName,
  quotedName,
  readMembers,
} from './line-members.ts';
import type { LineReader } from './line-reader.ts';

/**
 * Makes a function that returns some fields of a reader's current line, parsed as `parseJson` does; the rest of the line
 * is only validated, which leaves little for the garbage collector. Fields beyond the limits of JSON are absent. Throws
 * `StoredObjectError` that names a line that is not JSON.
 */
export function createRecordFields(
  names: readonly string[],
): (reader: LineReader) => Readonly<Record<string, unknown>> {
  const members = noMembers();
  const wanted = names.map(quotedName);
  return (reader) => {
    try {
      readMembers(reader.line, members);
    } catch {
      // Not an object, or not JSON.
      const value = parsedLine(reader);
      return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
    }
    const record: Record<string, unknown> = {};
    for (const name of wanted) {
      const value = fieldAt(reader, members, name);
      if (value !== undefined) record[name.name] = value;
    }
    return record;
  };
}

function fieldAt({ line }: LineReader, members: LineMembers, wanted: QuotedName): unknown {
  const at = lastNamed(line, members, wanted);
  if (at === NONE) return undefined;
  return readable(line.json.bytes.toString('utf8', members.valueStarts[at], members.valueEnds[at]));
}

import { parseJson } from '../../json/json.ts';
import { JsonLimitError } from '../../json/json-limits.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import { isBeyondLimits, readableFields } from './deep-lines.ts';
import type { Line, LineReader } from './line-reader.ts';

/**
 * The record of a reader's current line, without fields that are beyond the limits of JSON. Throws `StoredObjectError`
 * that names the line if it is not JSON.
 */
export function parsedLine({ line, place }: LineReader): unknown {
  const { json, start, end } = line;
  try {
    return readWithin(line, json.bytes.toString('utf8', start, end));
  } catch (cause) {
    throw new StoredObjectError('invalid', `${place()}: expected a record as JSON, got something else`, {
      cause,
    });
  }
}

function readWithin(line: Line, text: string): unknown {
  if (isBeyondLimits(text)) return readableFields(line);
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonLimitError) return readableFields(line);
    throw error;
  }
}

import { parseJson } from '../../json/json.ts';
import { StoredObjectError } from '../../store/stored-json.ts';
import type { LineReader } from './line-reader.ts';

/** The record of a reader's current line. Throws `StoredObjectError` that names the line if it is not JSON. */
export function parsedLine({ line: { json, start, end }, place }: LineReader): unknown {
  try {
    return parseJson(json.bytes.toString('utf8', start, end));
  } catch (cause) {
    throw new StoredObjectError('invalid', `${place()}: expected a record as JSON, got something else`, {
      cause,
    });
  }
}

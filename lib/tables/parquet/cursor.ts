import {
  CLOSE_OBJECT,
  COMMA,
  type JsonBytes,
  skipName,
  skipSpace,
  skipText,
  unexpected,
} from '../../snapshot/page/json-bytes.ts';

/** Where a line is read. */
export type Cursor = {
  json: JsonBytes;
  /** The index of the next byte. */
  at: number;
  /** Becomes false when something does not fit. */
  fits: boolean;
  /**
   * False at first: names are read as if none came twice. If one does, `repeats` becomes true, what was written is wrong,
   * and the line has to be read again with care.
   */
  isCareful: boolean;
  repeats: boolean;
};

/** Moves into an object, to its first member; false, behind it, if it has none. */
export function isFilled(cursor: Cursor): boolean {
  const { bytes } = cursor.json;
  cursor.at = skipSpace(bytes, cursor.at + 1);
  if (bytes[cursor.at] !== CLOSE_OBJECT) return true;
  cursor.at += 1;
  return false;
}

/** Moves behind a comma, to what comes next in an array or object; false, behind it, if that was the last. */
export function isMore(cursor: Cursor, close: number): boolean {
  const { bytes } = cursor.json;
  let byte = bytes[cursor.at];
  if (byte !== COMMA && byte !== close) {
    cursor.at = skipSpace(bytes, cursor.at);
    byte = bytes[cursor.at];
    if (byte !== COMMA && byte !== close) throw unexpected(bytes, cursor.at);
  }
  cursor.at += 1;
  if (byte === close) return false;
  if ((bytes[cursor.at] ?? 0) <= 0x20) cursor.at = skipSpace(bytes, cursor.at);
  return true;
}

/** Reads a member's name, and moves to its value; undefined for one that UTF-8 cannot express. */
export function readName(cursor: Cursor): string | undefined {
  const { json, at } = cursor;
  cursor.at = skipName(json, at);
  const end = skipText(json, at);
  const text = json.bytes.toString('utf8', at, end);
  const name = text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1);
  return name.isWellFormed() ? name : undefined;
}

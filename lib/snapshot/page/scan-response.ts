import { isUtf8 } from 'node:buffer';
import {
  CLOSE_OBJECT,
  COMMA,
  type JsonBytes,
  jsonBytesOf,
  OPEN_ARRAY,
  OPEN_OBJECT,
  parseJson,
  refuseManyValues,
  skipName,
  skipSpace,
  skipValue,
  unexpected,
} from '../../base/json/index.ts';
import { countNames } from './record-fields.ts';
import { type FoundRecords, findRecord, findRecords, type WantedFields } from './record-finder.ts';
import { stringAt } from './value-at.ts';

/*
 * Finds the records of a response without parsing it, so that memory holds only its bytes and a few numbers for each
 * record. All of it is validated: UTF-8 and one JSON value by RFC 8259, nested at most `MAX_DEPTH` deep; otherwise a
 * scan throws `SyntaxError` with the byte, or `JsonLimitError`. A byte order mark is skipped, as in `Response.json`. If
 * a member occurs twice, the last one is used, as in `JSON.parse`; if a field of a record occurs twice, both of its
 * types are recorded.
 */

/** Finds the records in the array `member` of a JSON object. */
export function scanObject(
  bytes: Buffer,
  member: string,
  wanted: WantedFields,
): {
  /** Whether the response is an object, or null, which counts as an object without members. */
  readonly isObject: boolean;
  /**
   * The records of the last array with that name; undefined if there is no such array, or the response is not an
   * object.
   */
  readonly found: FoundRecords | undefined;
  /** Parses another member; integers beyond 2^53 become bigints. Undefined if it is absent. Throws `JsonLimitError`. */
  readonly member: (name: string) => unknown;
  /** Parses all members in the same way, for a response without records. */
  readonly members: () => Readonly<Record<string, unknown>>;
} {
  const { json, start } = begin(bytes);
  const { found, others, end } =
    bytes[start] === OPEN_OBJECT
      ? scanMembers(json, start, { member, wanted })
      : { found: undefined, others: NO_MEMBERS, end: skipValue(json, start, 0) };
  refuseTrailing(json, end);
  return {
    isObject: bytes[start] === OPEN_OBJECT || bytes[start] === NULL,
    found,
    member(name) {
      const range = others.get(name);
      return range === undefined ? undefined : parseMember(bytes.subarray(...range));
    },
    members: () => Object(parseMember(bytes.subarray(start)) ?? {}),
  };
}

/** The first byte of `null`. No other value starts with it. */
const NULL = 0x6e;

/** No records, for a list that the platform left out because it is empty. */
export const emptyRecords = (wanted: WantedFields): FoundRecords =>
  findRecords(jsonBytesOf(Buffer.from('[]')), 0, 0, wanted);

/** Finds the records in a JSON array. `null` counts as an empty array. Undefined for any other value. */
export function scanList(bytes: Buffer, wanted: WantedFields): FoundRecords | undefined {
  const { json, start } = begin(bytes);
  const found = bytes[start] === OPEN_ARRAY ? findRecords(json, start, 0, wanted) : undefined;
  refuseTrailing(json, found?.end ?? skipValue(json, start, 0));
  return bytes[start] === NULL ? emptyRecords(wanted) : found;
}

/** Takes the whole response as one record. If it is not an object, `isRecord` is false. */
export function scanRecord(bytes: Buffer, wanted: WantedFields): FoundRecords {
  const { json, start } = begin(bytes);
  const found = findRecord(json, start, wanted);
  refuseTrailing(json, found.end);
  return found;
}

function begin(bytes: Buffer): { readonly json: JsonBytes; readonly start: number } {
  refuseInvalidUtf8(bytes);
  return { json: jsonBytesOf(bytes), start: skipSpace(bytes, markLength(bytes)) };
}

function refuseTrailing({ bytes }: JsonBytes, end: number): void {
  const rest = skipSpace(bytes, end);
  if (rest !== bytes.length) throw unexpected(bytes, rest);
}

function parseMember(bytes: Buffer): unknown {
  refuseManyValues(bytes);
  return parseJson(bytes.toString('utf8'));
}

const NO_MEMBERS: ReadonlyMap<string, readonly [start: number, end: number]> = new Map();

function scanMembers(
  json: JsonBytes,
  start: number,
  options: { readonly member: string; readonly wanted: WantedFields },
) {
  const { member, wanted } = options;
  const { bytes } = json;
  const others = new Map<string, readonly [number, number]>();
  const count = countNames();
  let found: FoundRecords | undefined;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) return { found, others, end: at + 1 };
  for (;;) {
    const value = skipName(json, at);
    const name = stringAt(json, at);
    const isSought = name === member;
    const records = isSought && bytes[value] === OPEN_ARRAY ? findRecords(json, value, 1, wanted) : undefined;
    if (isSought) found = records;
    const end = records?.end ?? skipValue(json, value, 1);
    if (!others.has(name)) count(name);
    others.set(name, [value, end]);
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_OBJECT) return { found, others, end: at + 1 };
    if (bytes[at] !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

/** The length of the byte order mark, U+FEFF in UTF-8; 0 without one. */
function markLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function refuseInvalidUtf8(bytes: Buffer): void {
  if (isUtf8(bytes)) return;
  // Decoding replaces invalid bytes by U+FFFD, and keeps the bytes before them. So the first difference is the place.
  const decoded = Buffer.from(bytes.toString());
  const wrong = bytes.findIndex((byte, index) => byte !== decoded[index]);
  throw new SyntaxError(`invalid UTF-8 at byte ${wrong < 0 ? bytes.length : wrong}`);
}

import { isUtf8 } from 'node:buffer';
import { parseJson } from '../../json/json.ts';
import { refuseManyValues } from '../../json/json-limits.ts';
import { type Id, MOST_ID_DIGITS } from '../../platform/id.ts';
import { MAX_NAMES, tooManyNames } from './field-types.ts';
import {
  CLOSE_OBJECT,
  COMMA,
  type JsonBytes,
  OPEN_ARRAY,
  OPEN_OBJECT,
  skipName,
  skipSpace,
  skipValue,
  unexpected,
} from './json-bytes.ts';
import { textAt, typesByName } from './record-fields.ts';
import { type FoundRecords, findRecords, type RecordFailure } from './record-finder.ts';

/** Where the records of a page are in its bytes, and what is known about them without parsing them. */
export type ScannedPageBytes = {
  /** How many records there are. */
  readonly records: number;
  /** By record: the digits of its key. */
  readonly keys: readonly Id[];
  /** By record: its first byte. */
  readonly starts: readonly number[];
  /** By record: the byte after its last one. */
  readonly ends: readonly number[];
  /** By the name of a top-level field: all types of its values, as `JSON_TYPE_BITS`. */
  readonly fields: ReadonlyMap<string, number>;
  /** The other members of the page, parsed: integers beyond 2^53 are bigints. */
  readonly head: Readonly<Record<string, unknown>>;
  /** True if there is a line end between the tokens of a record. Valid strings contain no raw line ends. */
  readonly hasLineEnd: (record: number) => boolean;
};

export type PageShapeFailure =
  | { readonly kind: 'no-object' }
  | { readonly kind: 'no-array'; readonly member: string }
  | RecordFailure;

/** Valid JSON, but not a page of records. A position is that of a record in its page; 0 is the first. */
export class PageShapeError extends Error {
  override readonly name = 'PageShapeError';
  readonly failure: PageShapeFailure;
  constructor(failure: PageShapeFailure) {
    super(messageOf(failure));
    this.failure = failure;
  }
}

/**
 * Finds the records of a page, the elements of the array `member` of a JSON object, without parsing them. The whole
 * page is validated: it must be UTF-8 and one JSON value by RFC 8259, nested at most `MAX_DEPTH` deep. A byte order
 * mark is skipped, as in `Response.json`.
 *
 * A record's key is its top-level `keyField`: an integer, or the digits of one as text. If a member occurs twice the
 * last one wins, as in `JSON.parse`; if a record has a field twice, both types are recorded.
 *
 * Throws `SyntaxError`, with the byte, if the page is not valid JSON, and `PageShapeError` if it is not a page.
 */
export function scanPage(bytes: Buffer, member: string, keyField: string): ScannedPageBytes {
  refuseInvalidUtf8(bytes);
  const json = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
  const { found, others, isObject } = scanTop(json, member, keyField);
  if (!isObject) throw new PageShapeError({ kind: 'no-object' });
  if (found === undefined) throw new PageShapeError({ kind: 'no-array', member });
  if (found.failure !== undefined) throw new PageShapeError(found.failure);
  const { keys, starts, ends, fields } = found;
  const head = Object.fromEntries(
    [...others].map(([name, [start, end]]) => [name, parseMember(bytes.subarray(start, end))]),
  );
  const hasLineEnd = (record: number) => holdsLineEnd(bytes.subarray(starts[record], ends[record]));
  return { records: keys.length, keys, starts, ends, fields: typesByName(fields), head, hasLineEnd };
}

function parseMember(bytes: Buffer): unknown {
  refuseManyValues(bytes);
  return parseJson(bytes.toString('utf8'));
}

/** True if the bytes contain a line feed or a carriage return. */
export function holdsLineEnd(bytes: Buffer): boolean {
  return bytes.includes(0x0a) || bytes.includes(0x0d);
}

type Top = {
  readonly isObject: boolean;
  /** The records of the last array with the name; undefined if there is none. */
  readonly found: FoundRecords | undefined;
  /** Where the values of the other members are, by name. */
  readonly others: ReadonlyMap<string, readonly [start: number, end: number]>;
};

function scanTop(json: JsonBytes, member: string, keyField: string): Top {
  const { bytes } = json;
  const start = skipSpace(bytes, markLength(bytes));
  const isObject = bytes[start] === OPEN_OBJECT;
  const { found, others, end } = isObject
    ? scanMembers(json, start, { member, keyField })
    : { found: undefined, others: new Map(), end: skipValue(json, start, 0) };
  const rest = skipSpace(bytes, end);
  if (rest !== bytes.length) throw unexpected(bytes, rest);
  return { isObject, found, others };
}

type Names = { readonly member: string; readonly keyField: string };

function scanMembers(json: JsonBytes, start: number, { member, keyField }: Names) {
  const { bytes } = json;
  const others = new Map<string, readonly [number, number]>();
  let found: FoundRecords | undefined;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) return { found, others, end: at + 1 };
  for (;;) {
    const value = skipName(json, at);
    const name = textAt(json, at);
    const isArray = bytes[value] === OPEN_ARRAY;
    if (name === member) found = isArray ? findRecords(json, value, keyField) : undefined;
    const end = name === member && found !== undefined ? found.end : skipValue(json, value, 1);
    if (name !== member) others.set(name, [value, end]);
    if (others.size > MAX_NAMES) throw tooManyNames();
    at = skipSpace(bytes, end);
    if (bytes[at] === CLOSE_OBJECT) return { found, others, end: at + 1 };
    if (bytes[at] !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

/** The length of the byte order mark, U+FEFF in UTF-8; 0 if there is none. */
function markLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

function refuseInvalidUtf8(bytes: Buffer): void {
  if (isUtf8(bytes)) return;
  // Decoding replaces invalid bytes by U+FFFD; the bytes before them are unchanged.
  const decoded = Buffer.from(bytes.toString());
  const wrong = bytes.findIndex((byte, index) => byte !== decoded[index]);
  throw new SyntaxError(`invalid UTF-8 at byte ${wrong < 0 ? bytes.length : wrong}`);
}

function messageOf(failure: PageShapeFailure): string {
  switch (failure.kind) {
    case 'no-object':
      return 'expected an object with an array of records';
    case 'no-array':
      return `expected an array of records as ${JSON.stringify(failure.member)}`;
    case 'no-record':
      return `record ${failure.position}: expected an object`;
    case 'no-key':
      return `record ${failure.position}: expected an integer of at most ${MOST_ID_DIGITS} digits as its ${JSON.stringify(failure.keyField)}`;
    default:
      return failure satisfies never;
  }
}

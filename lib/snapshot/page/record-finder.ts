import { parseJson } from '../../json/json.ts';
import { JsonLimitError } from '../../json/json-limits.ts';
import { type Id, idDigits, MOST_ID_DIGITS } from '../../platform/id.ts';
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  type JsonBytes,
  OPEN_OBJECT,
  skipSpace,
  skipValue,
  unexpected,
} from './json-bytes.ts';
import {
  addType,
  BEFORE_FIRST,
  createRecordFields,
  fieldAt,
  fieldNamed,
  type RecordFields,
} from './record-fields.ts';

/** Why an element is not a record with a key. A position is that of an element in its array; 0 is the first. */
export type RecordFailure =
  | { readonly kind: 'no-record'; readonly position: number }
  | { readonly kind: 'no-key'; readonly position: number; readonly keyField: string };

/** The records of an array, by their position in its bytes. */
export type FoundRecords = {
  /** By record: the digits of its key. */
  readonly keys: readonly Id[];
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly fields: RecordFields;
  /** The byte after the array. */
  readonly end: number;
  /** The first failure. It is returned, not thrown: invalid JSON after it takes precedence. */
  readonly failure: RecordFailure | undefined;
};

/** The array is nested in the page, and a record's values are nested in the page, the array and the record. */
const RECORD_DEPTH = 2;
const FIELD_DEPTH = 3;

/** The records of the array that starts at `start`. All of it is validated: throws `SyntaxError` if it is not JSON. */
export function findRecords(json: JsonBytes, start: number, keyField: string): FoundRecords {
  const { bytes } = json;
  const fields = createRecordFields(json);
  const found = { keyField: fieldNamed(fields, keyField), key: NO_KEY };
  const [keys, starts, ends]: [Id[], number[], number[]] = [[], [], []];
  let failure: RecordFailure | undefined;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_ARRAY) return { keys, starts, ends, fields, end: at + 1, failure };
  for (let position = 0; ; position += 1) {
    if (position === MAX_RECORDS) throw tooManyRecords();
    starts.push(at);
    const isRecord = bytes[at] === OPEN_OBJECT;
    found.key = NO_KEY;
    at = isRecord ? skipRecord(json, at, fields, found) : skipValue(json, at, RECORD_DEPTH);
    ends.push(at);
    const key = isRecord ? keyAt(json, found.key) : undefined;
    if (key !== undefined) keys.push(key);
    else failure ??= isRecord ? { kind: 'no-key', position, keyField } : { kind: 'no-record', position };
    at = skipSpace(bytes, at);
    if (bytes[at] === CLOSE_ARRAY) return { keys, starts, ends, fields, end: at + 1, failure };
    if (bytes[at] !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

/** Far more than a page is asked for: 5,000. */
const MAX_RECORDS = 100_000;

const tooManyRecords = () =>
  new JsonLimitError(`expected at most ${MAX_RECORDS} records in a page, got more`);

const NO_KEY = -1;

/** Which field is the key, and where its value starts in the current record, or `NO_KEY`. */
type FoundKey = { readonly keyField: number; key: number };

function skipRecord(json: JsonBytes, start: number, fields: RecordFields, found: FoundKey): number {
  const { bytes } = json;
  let field = BEFORE_FIRST;
  let at = skipSpace(bytes, start + 1);
  if (bytes[at] === CLOSE_OBJECT) return at + 1;
  for (;;) {
    field = fieldAt(fields, field, at);
    // A repeated name may have more space after it than the last time.
    const value = skipSpace(bytes, at + (fields.lengths[field] ?? 0));
    if (field === found.keyField) found.key = value;
    addType(fields, field, value);
    at = skipSpace(bytes, skipValue(json, value, FIELD_DEPTH));
    if (bytes[at] === CLOSE_OBJECT) return at + 1;
    if (bytes[at] !== COMMA) throw unexpected(bytes, at);
    at = skipSpace(bytes, at + 1);
  }
}

/** The digits of the key whose value starts at `start`; undefined if it is missing or not an integer. */
function keyAt(json: JsonBytes, start: number): Id | undefined {
  if (start === NO_KEY) return undefined;
  const { bytes } = json;
  const end = skipValue(json, start, FIELD_DEPTH);
  if (end - start > LONGEST_KEY) return undefined;
  let integer = 0;
  let at = start;
  for (; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return idDigits(parseJson(bytes.toString('utf8', start, end)));
    integer = integer * 10 + digit;
  }
  // Printing a number is faster than decoding bytes, and exact for up to 15 digits.
  if (end - start <= 15) return String(integer);
  return end - start > MOST_ID_DIGITS ? undefined : bytes.toString('latin1', start, end);
}

/** A sign, or the quotes of an id that is sent as text, may be added. */
const LONGEST_KEY = MOST_ID_DIGITS + 3;

const ZERO = 0x30;

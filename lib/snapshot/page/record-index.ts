import { compareIds, type Id } from '../../platform/index.ts';

/** The positions of a response's records, one row for each record. Objects would take several times the memory. */
type RecordIndex = {
  starts: Uint32Array;
  /** For each record, the index after its last byte. */
  ends: Uint32Array;
  /** For each wanted field, where its value starts in each record; 0 if it is absent. */
  readonly values: Uint32Array[];
  /** Integer keys of at most 15 digits, which are exact as numbers; NaN for longer ones. Empty if keys are strings. */
  numbers: Float64Array;
  /** Integer keys of more than 15 digits, by record. */
  readonly digits: Map<number, Id>;
};

const FIRST_ROWS = 16;

/** Creates an empty index. `wanted`: the number of wanted fields. */
export function createRecordIndex(wanted: number, keyIs: 'integer' | 'text'): RecordIndex {
  return {
    starts: new Uint32Array(FIRST_ROWS),
    ends: new Uint32Array(FIRST_ROWS),
    values: Array.from({ length: wanted }, () => new Uint32Array(FIRST_ROWS)),
    numbers: new Float64Array(keyIs === 'integer' ? FIRST_ROWS : 0),
    digits: new Map(),
  };
}

/** Doubles the number of rows. */
export function growIndex(index: RecordIndex): void {
  index.starts = new Uint32Array(larger(index.starts));
  index.ends = new Uint32Array(larger(index.ends));
  for (const [at, column] of index.values.entries()) index.values[at] = new Uint32Array(larger(column));
  index.numbers = new Float64Array(larger(index.numbers));
}

/** Frees the memory of the index immediately; afterwards it has no rows. */
export function freeIndex({ starts, ends, values, numbers, digits }: RecordIndex): void {
  for (const column of [starts, ends, ...values, numbers]) bufferOf(column).transfer(0);
  digits.clear();
}

/**
 * The memory of the index, in bytes. A key in `digits` is estimated at 100 bytes, with its map entry.
 */
export const indexBytes = ({ starts, values, numbers, digits }: RecordIndex): number =>
  starts.byteLength * (2 + values.length) + numbers.byteLength + digits.size * 100;

/** The integer key of a record, as digits. */
export function digitsAt({ numbers, digits }: RecordIndex, record: number): Id {
  const number = numbers[record] ?? Number.NaN;
  return Number.isNaN(number) ? (digits.get(record) ?? '') : String(number);
}

/** The integer keys of the first `records` records. */
export function allDigits(index: RecordIndex, records: number): readonly Id[] {
  const keys: Id[] = [];
  // `Array.from` would take four times as long.
  for (let record = 0; record < records; record += 1) keys.push(digitsAt(index, record));
  return keys;
}

/** The row numbers from `from` up to, but not including, `end`. */
export function rowsBetween(from: number, end: number): Uint32Array {
  const rows = new Uint32Array(end - from);
  for (let at = 0; at < rows.length; at += 1) rows[at] = from + at;
  return rows;
}

/** Compares the integer keys of two records. */
export const compareKeys = (index: RecordIndex, a: number, b: number): number =>
  compareIds(digitsAt(index, a), digitsAt(index, b));

/** Enlarges a column, and frees the old memory immediately instead of at the next garbage collection. */
const larger = (column: Uint32Array | Float64Array): ArrayBuffer =>
  bufferOf(column).transfer(2 * column.byteLength);

/** The buffer of a column. Columns are created only here, so their memory is never shared. */
const bufferOf = ({ buffer }: Uint32Array | Float64Array): ArrayBuffer => buffer as ArrayBuffer;

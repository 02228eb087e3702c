import {
  type JsonBytes,
  OPEN_OBJECT,
  skipDeepValue,
  skipSpace,
  unexpected,
} from '../../snapshot/page/json-bytes.ts';
import { parseColumnType } from './column-type.ts';
import { type Members, recordReader } from './fit-record.ts';
import { type Cursor, LONG_TEXT_BYTES, readerOf, readerOfKnown, type Value } from './fit-value.ts';

/** The columns of a table, in order: their names as on the platform, and their types in Hive's notation. */
export type TableColumns = Readonly<Record<string, string>>;

/**
 * Members without a column that have the same value in every line, by their names: its JSON. Only another value is in
 * `_other`.
 */
export type KnownMembers = Readonly<Record<string, string>>;

/** A column's values, one a row. */
type ColumnValues = {
  /** In lower case. */
  readonly name: string;
  values: Value[];
  /** True if a text is so long that it is worth nothing as a bound of the others. */
  hasLong: boolean;
};

/** Fits lines to the columns of a table: no value is changed, and none is lost. */
export type LineFitter = {
  readonly columns: readonly ColumnValues[];
  /**
   * Adds the row of the line from `start` up to `end`. Returns how many of its members are in `_other`. Throws
   * `SyntaxError` if it is not JSON; what does not fit is not read beyond its end. Long texts share the line's memory.
   */
  add(json: JsonBytes, start: number, end: number): number;
  /** Forgets all rows. */
  clear(): void;
};

/** The column of the members that have no column of their own, or do not fit it. */
const OTHER = '_other';

/**
 * Makes a fitter. A column of type timestamp is named `FIELD_at`, and is the moment of the epoch milliseconds in `FIELD`.
 * `_other` has, as a JSON object, the members that do not fit, byte for byte and in their order; a line that is JSON but
 * no object is in it as a whole. Any other column has the field of its name. Of members with the same name the last one
 * has the column, and all are in `_other`. Throws `TypeError` if the columns are not like this.
 */
export function createLineFitter(table: TableColumns, known: KnownMembers = {}): LineFitter {
  if (table[OTHER] !== 'string') throw new TypeError(`expected a column ${OTHER} of type string`);
  const names = Object.keys(table);
  const columns = names.map(
    (name): ColumnValues => ({ name: name.toLowerCase(), values: [], hasLong: false }),
  );
  const readRecord = recordReader([...fieldsOf(table), ...knownFields(known, names.length)]);
  const moments = momentsOf(table);
  const other = names.indexOf(OTHER);
  const row: Value[] = names.map(() => null);
  const cursor: Cursor = { json: NO_BYTES, at: 0, fits: true };

  return {
    columns,
    add(json, start, end) {
      row.fill(null);
      cursor.json = json;
      cursor.at = skipSpace(json.bytes, start);
      const from = cursor.at;
      let others = 1;
      if (json.bytes[from] === OPEN_OBJECT) {
        const members = readRecord(cursor, row);
        others = countOthers(members);
        if (others > 0) row[other] = othersOf(json.bytes, members);
      } else {
        cursor.at = skipDeepValue(json, from, 0);
        row[other] = textBetween(json.bytes, from, cursor.at);
      }
      // Not `!==`: the line feed after the line is space too.
      if (cursor.at > end || skipSpace(json.bytes, cursor.at) < end) throw unexpected(json.bytes, cursor.at);
      for (const { of, column } of moments) row[column] = momentOf(row[of] ?? null);
      for (let index = 0; index < columns.length; index += 1) addTo(columns[index], row[index] ?? null);
      return others;
    },
    clear() {
      for (const column of columns) {
        column.values = [];
        column.hasLong = false;
      }
    },
  };
}

const NO_BYTES: JsonBytes = { bytes: Buffer.alloc(0), view: new DataView(new ArrayBuffer(0)) };

const fieldsOf = (table: TableColumns) =>
  Object.entries(table).flatMap(([name, type], column) =>
    name === OTHER || type === 'timestamp' ? [] : [{ name, read: readerOf(parseColumnType(type)), column }],
  );

/** They fill places of a row that no column has. */
const knownFields = (known: KnownMembers, columns: number) =>
  Object.entries(known).map(([name, json], index) => ({
    name,
    read: readerOfKnown(json),
    column: columns + index,
  }));

/** The columns of moments, and those of their epoch milliseconds, by their indexes. */
function momentsOf(table: TableColumns): readonly { readonly column: number; readonly of: number }[] {
  const names = Object.keys(table);
  return names.flatMap((name, column) => {
    if (table[name] !== 'timestamp') return [];
    const field = name.replace(/_at$/, '');
    if (table[field] !== 'bigint') throw new TypeError(`${name}: expected a column ${field} of type bigint`);
    return [{ column, of: names.indexOf(field) }];
  });
}

/** The years 1 to 9999 in epoch milliseconds: readers disagree about others. */
const [FIRST_MS, LAST_MS] = [-62_135_596_800_000n, 253_402_300_799_999n];

const momentOf = (epochMs: Value): Value =>
  typeof epochMs === 'bigint' && epochMs >= FIRST_MS && epochMs <= LAST_MS ? epochMs : null;

function countOthers({ count, isOther }: Members): number {
  let others = 0;
  for (let member = 0; member < count; member += 1) if (isOther[member] === true) others += 1;
  return others;
}

/** A JSON object of the members that do not fit. */
function othersOf(bytes: Buffer, { count, starts, ends, isOther }: Members): Value {
  const pieces: Buffer[] = [];
  for (let member = 0; member < count; member += 1)
    if (isOther[member] === true)
      pieces.push(pieces.length === 0 ? OPEN : BETWEEN, bytes.subarray(starts[member], ends[member]));
  const object = Buffer.concat([...pieces, CLOSE]);
  return textBetween(object, 0, object.length);
}

const [OPEN, BETWEEN, CLOSE] = [Buffer.from('{'), Buffer.from(','), Buffer.from('}')];

const textBetween = (bytes: Buffer, start: number, end: number): Value =>
  end - start < LONG_TEXT_BYTES ? bytes.toString('utf8', start, end) : bytes.subarray(start, end);

function addTo(column: ColumnValues | undefined, value: Value): void {
  if (column === undefined) return;
  column.values.push(value);
  if (value instanceof Uint8Array) column.hasLong = true;
}

import { own, preview, shortened } from '../../../base/index.ts';
import { createNumbersByText, JsonLimitError, parseJson, printJson } from '../../../base/json/index.ts';
import {
  type CsvForm,
  notRowsError,
  type OddRows,
  openTable,
  openText,
  type TextForm,
  type TextLines,
} from '../../../text/index.ts';

/** The options for reading the rows of an input. */
export type RowsOptions = RowColumns & {
  /** The format. Default: by the ending of `name`, otherwise by the first character. */
  readonly format?: 'csv' | 'ndjson' | undefined;
  readonly name?: string | undefined;
  /** The name of an encoding. Default: it is detected. */
  readonly encoding?: string | undefined;
  /** The separator of a CSV, one character. Default: comma, semicolon, tab or pipe, whichever the header uses. */
  readonly separator?: string | undefined;
  /** Whether to accept rows with missing fields, as in `TableOptions`. Default: false. */
  readonly wholeRows?: boolean | undefined;
};

type InputFormat = TextForm & {
  readonly format: 'csv' | 'ndjson' | 'json';
  /** How a CSV is written, and its columns in order. */
  readonly csv?: CsvForm & { readonly names: readonly string[] };
};

/** A row as it is in its input: the fields of a CSV, or a string of JSON; undefined if it cannot be read. */
export type InputRecord = readonly string[] | string | undefined;

/** A row, and how it is written in its input. */
export type RowWithRecord = { readonly row: Row | BadRow; readonly record: InputRecord };

/** Opens a CSV (RFC 4180, with a header), NDJSON, or a JSON array of objects, gzipped or not. Throws `TextError`. */
export async function openRows(
  bytes: AsyncIterable<Uint8Array>,
  options: RowsOptions,
): Promise<
  AsyncDisposable & {
    readonly format: InputFormat;
    readonly rows: () => AsyncGenerator<RowWithRecord>;
    readonly odd: () => OddRows;
  }
> {
  const source = await openText(bytes, options);
  const { encoding, isMarked, isGzipped, doubt, [Symbol.asyncDispose]: close } = source;
  try {
    const format = formatOf(source.head, options);
    const lines = source.lines(format === 'json' ? 'element' : 'line');
    const { rows, odd, csv } =
      format === 'csv'
        ? await openCsv(lines, options)
        : { rows: () => jsonRows(lines, options), odd: () => ({ blank: 0, short: 0 }) };
    const form = { format, encoding, isMarked, isGzipped, doubt, ...(csv === undefined ? {} : { csv }) };
    return { format: form, rows, odd, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function* jsonRows(batches: TextLines, columns: RowsOptions): AsyncGenerator<RowWithRecord> {
  let isFirst = true;
  for await (const lines of batches)
    for (const { number: line, text, fault } of lines) {
      // An element of an array always includes its closing brace.
      if (isFirst && text.trim() === '{')
        throw notRowsError('one JSON object over several lines', { ...columns, line });
      const row = fault === undefined ? jsonRow(line, text, columns) : { line, fault };
      if (row === undefined) continue;
      isFirst = false;
      yield { row, record: fault === undefined ? text : undefined };
    }
}

async function openCsv(lines: TextLines, options: RowsOptions) {
  const table = await openTable(lines, { ...options, requested: requestedColumns(options) });
  const { names, odd } = table;
  const columns = withOptional(options, (name) => names.includes(name));
  const indexes = new Map(names.map((name, index) => [name, index]));
  const indexOf = (name: string) => indexes.get(name) ?? 0;
  async function* rows(): AsyncGenerator<RowWithRecord> {
    for await (const read of table.rows()) {
      const { line, fields } = read;
      // A row with too many or too few fields most likely has a separator or a line end in its text, so only the
      // fields before the text are certainly in their own columns.
      const end = indexOf(options.text);
      const row =
        'fault' in read
          ? badRow(read, columns, (name) => (indexOf(name) < end ? fields?.[indexOf(name)] : undefined))
          : rowFrom(line, columns, (name) => read.fields[indexOf(name)]);
      yield { row, record: fields };
    }
  }
  return { csv: table, rows, odd };
}

function formatOf(head: Uint8Array, { format, name = '' }: RowsOptions): InputFormat['format'] {
  if (format !== undefined) return format;
  const [, ending = ''] = /\.(csv|tsv|ndjson|jsonl)(?:\.gz)?$/i.exec(name) ?? [];
  if (/^[ct]sv$/i.test(ending)) return 'csv';
  // Skips byte order marks, spaces, and zero bytes: in UTF-16 every second byte of ASCII is zero.
  const first = head.find(
    (byte) => ![0, 0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf, 0xfe, 0xff].includes(byte),
  );
  // `[` begins an array.
  if (first === 0x5b) return 'json';
  return ending !== '' || first === 0x7b ? 'ndjson' : 'csv';
}

/** How an input was recognized, and what its rows show. */
export type RecognizedInput = Pick<InputFormat, 'format' | 'encoding'> &
  OddRows & {
    readonly separator?: string | undefined;
    /** How many rows without a text were skipped, as requested. */
    readonly skipped: number;
    /** Ids that occur more than once; undefined if the ids are line numbers. */
    readonly repeatedIds?: RepeatedIds | undefined;
  };

/**
 * Creates an input that can be read more than once. `found` returns how the input was recognized when it was last read
 * to the end.
 */
export function createInput(
  /** Opens the input. It must return the same bytes each time. */
  open: () => AsyncIterable<Uint8Array>,
  options: RowsOptions & {
    /** Whether to skip rows whose text is blank or null. */
    readonly skipEmpty?: boolean | undefined;
  },
): {
  readonly rows: () => AsyncGenerator<Row | BadRow>;
  readonly found: () => RecognizedInput | undefined;
} {
  let latest: RecognizedInput | undefined;
  return {
    async *rows() {
      await using source = await openRows(open(), options);
      const ids = options.id === undefined ? undefined : createIdIndex();
      let skipped = 0;
      for await (const { row } of source.rows()) {
        if ('fault' in row && row.isEmpty && options.skipEmpty) {
          skipped += 1;
          continue;
        }
        if (row.id !== undefined) ids?.add(row.id, row.line);
        yield row;
      }
      const { format, encoding, csv } = source.format;
      const about = { format, encoding, separator: csv?.separator, ...source.odd() };
      latest = { ...about, skipped, repeatedIds: ids?.found() };
    },
    found: () => latest,
  };
}

type RowColumns = {
  readonly text: string;
  /** The column of ids. Default: the id is the number of the row's line. */
  readonly id?: string | undefined;
  readonly columns?: readonly string[] | undefined;
  /** Columns that are used if they exist. */
  readonly optional?: readonly string[] | undefined;
};

const withOptional = (
  { columns = [], optional = [], ...others }: RowColumns,
  has: (name: string) => boolean,
) => ({
  ...others,
  columns: [...columns, ...optional.filter(has)],
});

/** A row of an input that can be scored. `line`: the number of the physical line where it starts, from 1. */
export type Row = {
  readonly line: number;
  readonly id: string;
  readonly text: string;
  readonly columns: Readonly<Record<string, string>>;
};

/** A row that cannot be scored, and why. */
export type BadRow = {
  readonly line: number;
  readonly fault: string;
  readonly id?: string | undefined;
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** Set if the text is blank or null, so that there is nothing to score. */
  readonly isEmpty?: true;
};

const requestedColumns = ({ text, id, columns = [] }: RowColumns): readonly string[] =>
  id === undefined ? [text, ...columns] : [text, id, ...columns];

/** Creates a row from its values. A missing field is undefined. */
function rowFrom(line: number, requested: RowColumns, fieldOf: (column: string) => unknown): Row | BadRow {
  const { text, id, columns = [] } = requested;
  const faults = requestedColumns(requested).flatMap((name) => faultOf(name, fieldOf(name), requested) ?? []);
  if (faults.length > 0) {
    const value = fieldOf(text);
    const bad = badRow({ line, fault: [...new Set(faults)].join('; ') }, requested, fieldOf);
    return value === null || (typeof value === 'string' && isBlank(value)) ? { ...bad, isEmpty: true } : bad;
  }
  return {
    line,
    id: id === undefined ? String(line) : cellText(fieldOf(id)),
    text: cellText(fieldOf(text)),
    columns: Object.fromEntries(columns.map((column) => [column, cellText(fieldOf(column))])),
  };
}

/** A bad row with its readable values. */
function badRow(
  { line, fault }: BadRow,
  requested: RowColumns,
  fieldOf: (column: string) => unknown,
): BadRow {
  const { id, columns = [] } = requested;
  const hasId = id !== undefined && faultOf(id, fieldOf(id), { text: '', id }) === undefined;
  const read = columns
    .filter((column) => fieldOf(column) !== undefined)
    .map((column) => [column, cellText(fieldOf(column))] as const);
  return {
    line,
    fault,
    ...(hasId ? { id: cellText(fieldOf(id)) } : {}),
    ...(read.length === 0 ? {} : { columns: Object.fromEntries(read) }),
  };
}

function faultOf(name: string, value: unknown, { text, id }: RowColumns): string | undefined {
  if (value === undefined) return `${name}: expected a field of this name in the row, got none`;
  if (name !== text && name !== id) return undefined;
  const isText = typeof value === 'string';
  const what = name === text ? 'text' : 'an id';
  if (!isText && (name === text || (typeof value !== 'number' && typeof value !== 'bigint')))
    return `${name}: expected ${what}, got ${kindOf(value)}`;
  return isBlank(String(value)) ? `${name}: expected ${what}, got an empty value` : undefined;
}

const isBlank = (text: string) => text.trim() === '';

const kindOf = (value: unknown) => (typeof value === 'string' ? 'a string' : preview(value));

/** A value as in a CSV: a string unchanged, null as an empty string, anything else as JSON. */
export const cellText = (value: unknown) =>
  typeof value === 'string' ? value : value === null ? '' : printJson(value);

/** Parses a line of JSON; undefined for a blank line. */
function jsonRow(line: number, text: string, columns: RowColumns): Row | BadRow | undefined {
  if (text.trim() === '') return undefined;
  const value = jsonOf(text);
  if (value instanceof JsonLimitError) return { line, fault: `the line: ${value.message}` };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return {
      line,
      fault: `the line: expected a JSON object, got ${value === undefined ? 'invalid JSON' : kindOf(value)}`,
    };
  const fields: Readonly<Record<string, unknown>> = { ...value };
  const fieldOf = (name: string) => own(fields, name);
  return rowFrom(
    line,
    withOptional(columns, (name) => fieldOf(name) !== undefined),
    fieldOf,
  );
}

/** Parses JSON. Returns undefined if the string is not JSON, and the error if it exceeds a limit. */
function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    return error instanceof JsonLimitError ? error : undefined;
  }
}

type RepeatedIds = {
  readonly rows: number;
  /** The first repeated ids, each with the lines of its first occurrence and of its repetition. */
  readonly first: readonly { readonly id: string; readonly lines: readonly [number, number] }[];
};

/** Maximum repeated ids that are listed, and maximum characters of each. */
const MAX_LISTED = 20;
const MAX_LISTED_LENGTH = 100;

/** Maximum ids in memory, which take up to 100 MB. Later ids are compared only with these. */
const MAX_IDS = 2_000_000;

/** Creates an index of ids that finds the repeated ones. */
export function createIdIndex(maxIds = MAX_IDS) {
  const lines = createNumbersByText();
  let rows = 0;
  const first: RepeatedIds['first'][number][] = [];
  return {
    /** Adds an id. Returns the line where it occurred first; undefined if it is new. */
    add(id: string, line: number): number | undefined {
      const earlier = lines.get(id);
      if (earlier !== undefined) {
        rows += 1;
        if (first.length < MAX_LISTED)
          first.push({ id: shortened(id.toWellFormed(), MAX_LISTED_LENGTH), lines: [earlier, line] });
        return earlier;
      }
      if (lines.count() < maxIds) lines.set(id, line);
      return undefined;
    },
    found: (): RepeatedIds => ({ rows, first }),
  };
}

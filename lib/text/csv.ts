import { listed, shownText } from '../base/index.ts';
import { MAX_ROW_LENGTH, type TextLine, type TextLines } from './lines.ts';
import { openText, type TextForm, type TextOptions } from './open-text.ts';
import { TextError, type TextPosition } from './text-error.ts';

type TableOptions = TextOptions & {
  /** The names of the columns that the header must have. */
  readonly requested: readonly string[];
  /** Columns that are used if they exist. The header must not repeat them. */
  readonly optional?: readonly string[] | undefined;
  readonly separator?: string | undefined;
  /**
   * Whether to accept rows with missing fields even if a line break seems to have cut one row in two. Default: false.
   */
  readonly wholeRows?: boolean | undefined;
};

/**
 * How a CSV is written, apart from its encoding. `isDeclared`: a line before the header, such as `sep=;`, declares the
 * separator.
 */
export type CsvForm = {
  readonly separator: string;
  /** Default: CRLF. */
  readonly lineEnd?: string | undefined;
  readonly isDeclared?: boolean | undefined;
};

/** The header of a CSV. A column that is not requested may have an empty or a repeated name. */
type CsvHeader = CsvForm & { readonly names: readonly string[] };

/** A row; or the fault of a broken row, with its fields if there are too many. */
type CsvRow =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly fault: string; readonly fields?: readonly string[] };

/** How many rows so far differed from the header. */
export type OddRows = {
  /** Skipped lines whose cells are all blank, such as cleared rows of a spreadsheet. */
  readonly blank: number;
  /** Rows without their last fields, which count as empty, since spreadsheets leave out empty cells at the end. */
  readonly short: number;
};

/**
 * A CSV whose header has been read. `rows` can be read once, in order. Each row has as many fields as there are names,
 * or a fault.
 */
type CsvTable = CsvHeader & {
  readonly rows: () => AsyncGenerator<CsvRow>;
  readonly odd: () => OddRows;
};

/**
 * Reads the header of a CSV. The separator is the one in the options or in a line such as `sep=;`. Otherwise it is the
 * most frequent separator outside quotes with which the header has all requested columns. Throws `TextError` for a
 * broken header.
 */
export async function openTable(lines: TextLines, options: TableOptions): Promise<CsvTable> {
  const { requested, name = '' } = options;
  if (options.separator !== undefined && !/^[^"\r\n]$/u.test(options.separator))
    throw new TextError(
      'option',
      `separator: expected one character, not a quote or line ending, got ${JSON.stringify(options.separator)}`,
    );
  const gathered = gatherRows(lines);
  const first = await takeHeader(gathered, options);
  const [, declared] = /^"?sep=(.)"?$/i.exec(first.text) ?? [];
  const { text, ...position } = declared === undefined ? first : await takeHeader(gathered, options);
  const separator = options.separator ?? declared ?? (/\.tsv(\.gz)?$/i.test(name) ? '\t' : undefined);
  const candidates = separator === undefined ? separatorsByFrequency(text) : [separator];
  const headers = candidates.map((each) => ({ separator: each, names: fieldsOf(text, each) }));
  const chosen =
    headers.find(({ names }) => typeof names === 'object' && missingIn(names, requested).length === 0) ??
    headers[0];
  const names = checkedNames(chosen?.names ?? [], options, position);
  const header = {
    separator: chosen?.separator ?? ',',
    names,
    lineEnd: position.end || undefined,
    isDeclared: declared !== undefined,
  };
  const odd = { blank: 0, short: 0 };
  return { ...header, rows: () => readRows(gathered, header, odd, options), odd: () => ({ ...odd }) };
}

/** Opens a CSV from bytes, gzipped or not, in the encoding that is detected. */
export async function openTableFile(
  bytes: AsyncIterable<Uint8Array>,
  options: TableOptions,
): Promise<CsvTable & TextForm & AsyncDisposable> {
  const source = await openText(bytes, options);
  try {
    return { ...source, ...(await openTable(source.lines(), options)) };
  } catch (error) {
    await source[Symbol.asyncDispose]();
    throw error;
  }
}

const badHeader = (got: string, position: TextPosition, expected = 'column names') =>
  new TextError('header', `the header: expected ${expected}, got ${got}`, position);

async function takeHeader(gathered: ReturnType<typeof gatherRows>, { name }: TextPosition) {
  let lines = await gathered.next();
  for (; lines !== undefined && textOf(lines).trim() === ''; lines = await gathered.next()) gathered.take(1);
  if (lines === undefined) throw badHeader('nothing', { name });
  gathered.take(lines.length);
  const fault = lines.find((line) => line.fault !== undefined)?.fault;
  const line = lines[0]?.number ?? 1;
  if (fault !== undefined) throw badHeader(fault, { name, line });
  return { text: textOf(lines), line, name, end: lines.at(-1)?.end ?? '' };
}

function separatorsByFrequency(header: string): readonly string[] {
  const outside = header.replaceAll(/"[^"]*"/g, '');
  const countOf = (separator: string) => outside.split(separator).length;
  return [',', ';', '\t', '|'].sort((a, b) => countOf(b) - countOf(a));
}

function checkedNames(
  fields: readonly string[] | Fault,
  { requested, optional = [] }: TableOptions,
  position: TextPosition,
): readonly string[] {
  if (typeof fields === 'string') throw badHeader(FAULTS[fields], position);
  const names = fields.map((name) => name.trim());
  const repeated = repeatedIn(names).intersection(new Set([...requested, ...optional]));
  if (repeated.size > 0)
    throw badHeader(`${listed([...repeated])} more than once`, position, 'each requested name only once');
  const missing = missingIn(names, requested);
  if (missing.length === 0) return names;
  throw new TextError(
    'columns',
    `columns: expected ${listed(missing)}, got a header with ${listed(names)}: the first line must be the header`,
    position,
  );
}

/** The names that occur more than once. */
export function repeatedIn(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of names) (seen.has(name) ? repeated : seen).add(name);
  return repeated;
}

const missingIn = (names: readonly string[], requested: readonly string[]): readonly string[] => [
  ...new Set(requested).difference(new Set(names.map((name) => name.trim()))),
];

async function* readRows(
  gathered: ReturnType<typeof gatherRows>,
  { separator, names }: CsvHeader,
  odd: { blank: number; short: number },
  { wholeRows, name }: TableOptions,
): AsyncGenerator<CsvRow> {
  let before: Extract<CsvRow, { fields: readonly string[] }> | undefined;
  for (let lines = await gathered.next(); lines !== undefined; lines = await gathered.next()) {
    const fields = fieldsOf(textOf(lines), separator);
    const isOneLine = typeof fields === 'string' && endsWithFirstLine(lines, { separator, names });
    const taken = isOneLine ? 1 : lines.length;
    gathered.take(taken);
    const line = lines[0]?.number ?? 0;
    const broken = lines.find((each) => each.fault !== undefined)?.fault;
    if (broken === undefined && typeof fields !== 'string' && fields.every(isBlank)) {
      odd.blank += 1;
      continue;
    }
    const fault = broken ?? faultOf(fields, names);
    const skippedLines = taken > 1 ? ` (lines ${line} to ${line + taken - 1} are skipped)` : '';
    const known = broken !== undefined || typeof fields === 'string' ? {} : { fields };
    const row = fault === undefined && typeof fields !== 'string' ? { line, fields } : undefined;
    if (
      !wholeRows &&
      before !== undefined &&
      row !== undefined &&
      mayBeOneRow(before.fields, row.fields, names)
    )
      throw splitRowError([before, row], { separator, name });
    before = row;
    if (fault !== undefined) yield { line, fault: `${fault}${skippedLines}`, ...known };
    else if (typeof fields !== 'string') {
      if (fields.length < names.length) odd.short += 1;
      yield { line, fields: names.map((_, at) => fields[at] ?? '') };
    }
  }
}

/**
 * Whether two rows look like one row that was cut by a line break without quotes, so that only half of a text would be
 * read: one of them has too few fields, and the second begins with words, while the first begins with a number or a code.
 */
function mayBeOneRow(first: readonly string[], second: readonly string[], names: readonly string[]): boolean {
  const all = names.length;
  const start = first[0] ?? '';
  const next = second[0] ?? '';
  if ((first.length >= all && second.length >= all) || isBlank(next) || !isOfWords(next)) return false;
  return !isOfWords(start) || second.length === 1 || first.length + second.length === all + 1;
}

const isOfWords = (field: string): boolean => /\s/.test(field.trim()) || !/\d/.test(field);

type Half = { readonly line: number; readonly fields: readonly string[] };

/** The error for two rows that look like one row which was cut by a line break. */
function splitRowError(
  rows: readonly [Half, Half],
  { separator, name }: { separator: string; name?: string | undefined },
) {
  const counts = rows.map(({ fields }) => fields.length).join(' and then one of ');
  const lines = rows.map(
    ({ line, fields }) => `  line ${line}: ${shownText(fields.join(separator), MAX_SHOWN_LENGTH)}`,
  );
  const what = `rows: expected quotes around a text with line breaks, got a row of ${counts} fields, which may be one row`;
  const remedy =
    'put quotes around such texts or, if each line is a row, use --whole-rows (in a request: wholeRows)';
  const [{ line }] = rows;
  return new TextError('format', `${what}: ${remedy}\n${lines.join('\n')}`, { name, line });
}

/** Maximum characters of a row that a message shows. */
const MAX_SHOWN_LENGTH = 120;

const isBlank = (field: string): boolean => field.trim() === '';

/** The fault of a row, if any. At its end, fields may be missing, and additional fields may be empty. */
function faultOf(fields: readonly string[] | Fault, names: readonly string[]): string | undefined {
  if (typeof fields === 'string') return FAULTS[fields];
  if (fields.slice(names.length).every(isBlank)) return undefined;
  return `the row: expected ${names.length} fields, got ${fields.length}: check that texts that contain a separator are in quotes`;
}

/**
 * Whether a broken row ends with its first line, and not at the quote that seems to close it. True if:
 * - the first quote does not open a field,
 * - or the quote that seems to close it is not at the end of a field,
 * - or each of the later lines is a complete row, if the quote in the last line is taken to open a field.
 */
function endsWithFirstLine(lines: readonly TextLine[], { separator, names }: CsvHeader): boolean {
  const [first = '', ...others] = lines.map(({ text }) => text);
  const last = others.pop() ?? '';
  const afterQuote = last.slice(last.lastIndexOf('"') + 1);
  if (afterQuote !== '' && !afterQuote.startsWith(separator)) return true;
  if (fieldsOf(first, separator) === 'stray') return true;
  return [...others, `${last}"`].every((text) => {
    const fields = fieldsOf(text, separator);
    return typeof fields !== 'string' && fields.length === names.length;
  });
}

const FAULTS = {
  stray: 'a broken quote: a field that contains quotes must be in quotes itself',
  early:
    'a broken quote: within a field, a quote must be doubled, or followed by a separator or the end of the row',
  unclosed: `a broken quote: it is not closed within ${MAX_ROW_LENGTH} characters`,
} as const;

type Fault = keyof typeof FAULTS;

/** Splits one row (without its final line ending) by RFC 4180. */
function fieldsOf(row: string, separator: string): readonly string[] | Fault {
  const fields: string[] = [];
  for (let at = 0; ; at += separator.length) {
    let text = '';
    if (row[at] === '"') {
      const end = closingQuote(row, at);
      if (end < 0) return 'unclosed';
      text = row.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
      if (at < row.length && !row.startsWith(separator, at)) return 'early';
    } else {
      const end = row.indexOf(separator, at);
      text = row.slice(at, end < 0 ? row.length : end);
      if (text.includes('"')) return 'stray';
      at += text.length;
    }
    fields.push(text);
    if (at === row.length) return fields;
  }
}

/** The index of the quote that closes a quoted field, past doubled quotes; -1 if it is missing. */
function closingQuote(row: string, from: number): number {
  let end = row.indexOf('"', from + 1);
  while (end >= 0 && row[end + 1] === '"') end = row.indexOf('"', end + 2);
  return end;
}

const quotesIn = (text: string) => text.split('"').length - 1;

const textOf = (lines: readonly TextLine[]) =>
  lines.map(({ text, end }, at) => (at === lines.length - 1 ? text : text + end)).join('');

/** Groups lines into rows. A row ends where its quotes are even; without a closing quote, it ends with its first line. */
function gatherRows(pieces: TextLines) {
  let buffered: readonly TextLine[] = [];
  let start = 0;
  let isOver = false;
  // The lines of the next row so far, with their quotes and their characters.
  let count = 0;
  let quotes = 0;
  let length = 0;
  /** The lines of the next row; undefined if some of them were not read yet. */
  const gathered = (): readonly TextLine[] | undefined => {
    do {
      const line = buffered[start + count];
      if (line === undefined && !isOver) return undefined;
      length += line?.text.length ?? 0;
      if (line === undefined || (count > 0 && (line.isTooLong || length > MAX_ROW_LENGTH)))
        return count > 0 ? buffered.slice(start, start + 1) : undefined;
      quotes += quotesIn(line.text);
      count += 1;
    } while (quotes % 2 === 1);
    return buffered.slice(start, start + count);
  };
  return {
    /** The lines of the next row; undefined after the last row. */
    async next(): Promise<readonly TextLine[] | undefined> {
      for (let lines = gathered(); ; lines = gathered()) {
        if (lines !== undefined || isOver) return lines;
        const { done, value = [] } = await pieces.next();
        isOver = done === true;
        buffered = [...buffered.slice(start), ...value];
        start = 0;
      }
    },
    /** Consumes this many lines: all that `next` returned, or fewer. */
    take(taken: number) {
      start += taken;
      count = 0;
      quotes = 0;
      length = 0;
    },
  };
}

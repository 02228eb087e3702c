import { listed } from '../../../base/index.ts';
import { LONGEST_ROW, RowsError, type SourceLine, type SourceLines } from './source-lines.ts';
import { openText } from './source-text.ts';

export type TableOptions = {
  readonly requested: readonly string[];
  readonly name?: string | undefined;
  readonly separator?: string | undefined;
  readonly encoding?: string | undefined;
};

type CsvHeader = { readonly separator: string; readonly names: readonly string[] };

/** A row, or the line of a broken one, with the fields of one that has too many or too few. */
type CsvRow =
  | { readonly line: number; readonly fields: readonly string[] }
  | { readonly line: number; readonly fault: string; readonly fields?: readonly string[] };

/** `rows`: in order, once, each with as many fields as there are names, or a fault. */
export type CsvTable = CsvHeader & {
  readonly rows: () => AsyncGenerator<CsvRow>;
  /** How many lines were skipped so far since all their cells are blank, as of a row whose cells were cleared. */
  readonly blank: () => number;
};

/**
 * Reads the header of a CSV. The separator is the given one, or that of a line such as `sep=;`, or the one found most often
 * outside quotes that yields all requested columns. Throws `RowsError` for a broken header.
 */
export async function openTable(
  lines: SourceLines,
  { requested, name = '', separator: given }: TableOptions,
): Promise<CsvTable> {
  const gathered = gatherRows(lines);
  const first = await takeHeader(gathered);
  const [, declared] = /^"?sep=(.)"?$/i.exec(first) ?? [];
  const text = declared === undefined ? first : await takeHeader(gathered);
  const separator = given ?? (/\.tsv(\.gz)?$/i.test(name) ? '\t' : declared);
  const candidates = separator === undefined ? byFrequency(text) : [separator];
  const headers = candidates.map((each) => ({ separator: each, names: fieldsOf(text, each) }));
  const chosen =
    headers.find(({ names }) => typeof names === 'object' && missingIn(names, requested).length === 0) ??
    headers[0];
  const header = checkedHeader(chosen?.separator ?? ',', chosen?.names ?? [], requested);
  const skipped = { blank: 0 };
  return { ...header, rows: () => rowsIn(gathered, header, skipped), blank: () => skipped.blank };
}

/** The same for bytes, gzipped or not, in any encoding that is found. */
export async function openTableFile(
  bytes: AsyncIterable<Uint8Array>,
  options: TableOptions,
): Promise<CsvTable & AsyncDisposable> {
  const source = await openText(bytes, options.encoding);
  const close = () => source[Symbol.asyncDispose]();
  try {
    return { ...(await openTable(source.lines(), options)), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

const badHeader = (got: string, expected = 'column names') =>
  new RowsError('header', `the header line: expected ${expected}, got ${got}`);

async function takeHeader(gathered: GatheredRows): Promise<string> {
  let lines = await gathered.next();
  for (; lines !== undefined && textOf(lines).trim() === ''; lines = await gathered.next()) gathered.take(1);
  if (lines === undefined) throw badHeader('nothing');
  gathered.take(lines.length);
  const fault = lines.find((line) => line.fault !== undefined)?.fault;
  if (fault !== undefined) throw badHeader(fault);
  return textOf(lines);
}

function byFrequency(header: string): readonly string[] {
  const outside = header.replaceAll(/"[^"]*"/g, '');
  const countOf = (separator: string) => outside.split(separator).length;
  return [',', ';', '\t', '|'].sort((a, b) => countOf(b) - countOf(a));
}

function checkedHeader(
  separator: string,
  fields: readonly string[] | Fault,
  requested: readonly string[],
): CsvHeader {
  if (typeof fields === 'string') throw badHeader(FAULTS[fields]);
  const names = fields.map((name) => name.trim());
  // Separators at the ends of lines make columns without a name, which nobody can request.
  const [seen, twice] = [new Set<string>(), new Set<string>()];
  for (const name of names) if (name !== '') (seen.has(name) ? twice : seen).add(name);
  if (twice.size > 0) throw badHeader(`${listed([...twice])} more than once`, 'each name once');
  const missing = missingIn(names, requested);
  if (missing.length > 0)
    throw new RowsError(
      'columns',
      `columns: expected ${listed(missing)}, got a header with ${listed(names)}: the first line names the columns`,
    );
  return { separator, names };
}

const missingIn = (names: readonly string[], requested: readonly string[]): readonly string[] => [
  ...new Set(requested).difference(new Set(names.map((name) => name.trim()))),
];

async function* rowsIn(
  gathered: GatheredRows,
  { separator, names }: CsvHeader,
  skipped: { blank: number },
): AsyncGenerator<CsvRow> {
  for (let lines = await gathered.next(); lines !== undefined; lines = await gathered.next()) {
    const fields = fieldsOf(textOf(lines), separator);
    const isOneLine = typeof fields === 'string' && endsWithFirstLine(lines, { separator, names });
    const taken = isOneLine ? 1 : lines.length;
    gathered.take(taken);
    const line = lines[0]?.number ?? 0;
    const broken = lines.find((each) => each.fault !== undefined)?.fault;
    if (broken === undefined && isBlank(fields)) {
      skipped.blank += 1;
      continue;
    }
    const fault = broken ?? faultOf(fields, names);
    const isLonger = taken > 1 ? ` (lines ${line} to ${line + taken - 1} are skipped)` : '';
    const known = broken !== undefined || typeof fields === 'string' ? {} : { fields };
    if (fault !== undefined) yield { line, fault: `${fault}${isLonger}`, ...known };
    else if (typeof fields !== 'string') yield { line, fields };
  }
}

/** Whether a line is no row: however many cells it has, nothing is in any of them. */
const isBlank = (fields: readonly string[] | Fault): boolean =>
  typeof fields !== 'string' && fields.every((field) => field.trim() === '');

function faultOf(fields: readonly string[] | Fault, names: readonly string[]): string | undefined {
  if (typeof fields === 'string') return FAULTS[fields];
  if (fields.length === names.length) return undefined;
  return `the row: expected ${names.length} fields, got ${fields.length}`;
}

/**
 * Whether to skip only the first line of a broken row, not everything up to the quote that seems to close. True if the first
 * quote opens nothing, if the other one is not at the end of a field, or if all other lines are rows of their own, the last
 * of them with that quote opening a field.
 */
function endsWithFirstLine(lines: readonly SourceLine[], { separator, names }: CsvHeader): boolean {
  const [first = '', ...others] = lines.map(({ text }) => text);
  const last = others.pop() ?? '';
  const afterQuote = last.slice(last.lastIndexOf('"') + 1);
  if (afterQuote !== '' && !afterQuote.startsWith(separator)) return true;
  if (fieldsOf(first, separator) === 'stray') return true;
  return [...others, `${last}"`].every((text) => faultOf(fieldsOf(text, separator), names) === undefined);
}

const FAULTS = {
  stray: 'a broken quote: expected a field that contains quotes to be quoted, got an unquoted one',
  early:
    'a broken quote: expected it to be doubled, or followed by a separator or the end of the row, got something else',
  unclosed: `a broken quote: expected it to be closed within ${LONGEST_ROW} characters, got no closing quote`,
} as const;

type Fault = keyof typeof FAULTS;

/** Splits the text of one row (without its final line ending) as RFC 4180 says. */
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

/** Where a quoted field ends, whose inner quotes are doubled; -1 if it does not. */
function closingQuote(row: string, from: number): number {
  let end = row.indexOf('"', from + 1);
  while (end >= 0 && row[end + 1] === '"') end = row.indexOf('"', end + 2);
  return end;
}

const quotesIn = (text: string) => text.split('"').length - 1;

const textOf = (lines: readonly SourceLine[]) =>
  lines.map(({ text, end }, at) => (at === lines.length - 1 ? text : text + end)).join('');

type GatheredRows = ReturnType<typeof gatherRows>;

/** Lines by rows: one ends where its quotes are even. If no quote closes it, it is its first line. */
function gatherRows(pieces: SourceLines) {
  let held: readonly SourceLine[] = [];
  let start = 0;
  let isOver = false;
  // How many lines of the next row were looked at, and their quotes and characters.
  let [count, quotes, length] = [0, 0, 0];
  /** The lines of the next row, if what was read so far holds all of them. */
  const gathered = (): readonly SourceLine[] | undefined => {
    do {
      const line = held[start + count];
      if (line === undefined && !isOver) return undefined;
      length += line?.text.length ?? 0;
      if (line === undefined || (count > 0 && (line.isTooLong || length > LONGEST_ROW)))
        return count > 0 ? held.slice(start, start + 1) : undefined;
      quotes += quotesIn(line.text);
      count += 1;
    } while (quotes % 2 === 1);
    return held.slice(start, start + count);
  };
  return {
    /** The lines of the next row; undefined after the last one. */
    async next(): Promise<readonly SourceLine[] | undefined> {
      for (let lines = gathered(); ; lines = gathered()) {
        if (lines !== undefined || isOver) return lines;
        const { done, value = [] } = await pieces.next();
        isOver = done === true;
        [held, start] = [[...held.slice(start), ...value], 0];
      }
    },
    /** Takes so many lines: all that `next` gave, or fewer. */
    take(taken: number) {
      start += taken;
      [count, quotes, length] = [0, 0, 0];
    },
  };
}

import { type CsvFields, csvFields } from './csv-fields.ts';
import { LONGEST_ROW, type SourceLine } from './source-lines.ts';

/** A row of a CSV file and the line where it starts; or the line of a broken row, and what is wrong with it. */
export type CsvRow =
  | { readonly line: number; readonly fields: readonly string[] }
  | {
      readonly line: number;
      readonly fault: string;
      /** Those of a row that has too many or too few. */
      readonly fields?: readonly string[] | undefined;
    };

/** Reads rows, which may span several lines. Blank lines are skipped. */
export type CsvReader = {
  /** The first row, before its separator is known. */
  readonly header: () => Promise<GatheredRow | undefined>;
  readonly rows: (options: {
    readonly separator: string;
    readonly fieldCount: number;
  }) => AsyncGenerator<CsvRow>;
};

/** A row before its fields are split. `unclosed`: a quote that opens on its first line does not close. */
type GatheredRow = {
  readonly line: number;
  readonly lines: readonly SourceLine[];
  readonly text: string;
  readonly fault: string | undefined;
  readonly unclosed: boolean;
};

export function createCsvReader(source: AsyncIterator<SourceLine>): CsvReader {
  const ahead = createLookahead(source);
  return {
    async header() {
      const row = await gatherRow(ahead);
      if (row !== undefined) ahead.drop(row.lines.length);
      return row;
    },
    async *rows({ separator, fieldCount }) {
      const fieldsOf = (text: string) => withCount(csvFields(text, separator), fieldCount);
      for (let row = await gatherRow(ahead); row !== undefined; row = await gatherRow(ahead)) {
        const parsed = parseRow(row, separator);
        const endsEarly = parsed.kind === 'broken' && endsWithFirstLine(row, separator, fieldsOf);
        const lineCount = endsEarly ? 1 : row.lines.length;
        ahead.drop(lineCount);
        yield rowOf(row, lineCount, row.fault ?? withCount(parsed, fieldCount));
      }
    },
  };
}

function parseRow({ text, unclosed }: GatheredRow, separator: string): CsvFields {
  const parsed = csvFields(text, separator);
  return unclosed && parsed.kind === 'broken' && !parsed.isStrayQuote ? UNCLOSED : parsed;
}

const UNCLOSED: CsvFields = {
  kind: 'broken',
  fault: `a broken quote: expected it to be closed within ${LONGEST_ROW} characters, got no closing quote`,
};

function withCount(parsed: CsvFields, expected: number): CsvFields {
  if (parsed.kind === 'broken' || parsed.fields.length === expected) return parsed;
  return {
    kind: 'broken',
    fault: `the row: expected ${expected} fields, got ${parsed.fields.length}`,
    fields: parsed.fields,
  };
}

function rowOf(row: GatheredRow, skippedLines: number, parsed: CsvFields | string): CsvRow {
  const { line } = row;
  const fault = typeof parsed === 'string' ? parsed : parsed.kind === 'broken' ? parsed.fault : undefined;
  if (fault === undefined) return { line, fields: (parsed as Extract<CsvFields, { kind: 'fields' }>).fields };
  const skipped = skippedLines > 1 ? ` (lines ${line} to ${line + skippedLines - 1} are skipped)` : '';
  const fields = typeof parsed === 'string' ? undefined : parsed.fields;
  return { line, fault: `${fault}${skipped}`, ...(fields === undefined ? {} : { fields }) };
}

/**
 * Whether to skip only the first line of a broken row, and not everything up to the quote that seems to close. True if
 * the first quote is a stray one that opens nothing, if the other one is not at the end of a field, or if all other
 * lines are rows of their own, the last of them with that quote opening a field.
 */
function endsWithFirstLine(
  { lines: [first, ...others], unclosed }: GatheredRow,
  separator: string,
  fieldsOf: (text: string) => CsvFields,
): boolean {
  const last = others.pop();
  if (first === undefined || last === undefined || unclosed) return true;
  const alone = csvFields(first.text, separator);
  if (alone.kind === 'broken' && alone.isStrayQuote) return true;
  const afterQuote = last.text.slice(last.text.lastIndexOf('"') + 1);
  if (afterQuote !== '' && !afterQuote.startsWith(separator)) return true;
  return [...others.map(({ text }) => text), `${last.text}"`].every(
    (text) => fieldsOf(text).kind === 'fields',
  );
}

const isOdd = (count: number) => count % 2 === 1;
const quotesIn = (text: string) => text.split('"').length - 1;

/**
 * The next row. If all of its quotes are well formed, it ends with the first line at which their count is even: quotes
 * inside a quoted field are doubled.
 */
async function gatherRow(ahead: Lookahead): Promise<GatheredRow | undefined> {
  let first = await ahead.at(0);
  while (first !== undefined && first.fault === undefined && /^ *$/.test(first.text)) {
    ahead.drop(1);
    first = await ahead.at(0);
  }
  if (first === undefined) return undefined;
  const lines = [first];
  let quotes = quotesIn(first.text);
  let length = first.text.length;
  while (isOdd(quotes)) {
    const next = await ahead.at(lines.length);
    length += next?.text.length ?? 0;
    if (next === undefined || next.isTooLong || length > LONGEST_ROW) return gathered([first], true);
    lines.push(next);
    quotes += quotesIn(next.text);
  }
  return gathered(lines, false);
}

function gathered(lines: readonly SourceLine[], unclosed: boolean): GatheredRow {
  const last = lines.at(-1);
  const text = lines.map((line) => (line === last ? line.text : line.text + line.end)).join('');
  const fault = lines.find((line) => line.fault !== undefined)?.fault;
  return { line: lines[0]?.number ?? 0, lines, text, fault, unclosed };
}

type Lookahead = ReturnType<typeof createLookahead>;

/** Lines that can be read ahead before they are taken. */
function createLookahead(source: AsyncIterator<SourceLine>) {
  let held: SourceLine[] = [];
  let start = 0;
  return {
    /** The line `index` places ahead (0 is the next one), or undefined after the end. */
    async at(index: number): Promise<SourceLine | undefined> {
      while (held.length <= start + index) {
        const next = await source.next();
        if (next.done) return undefined;
        held.push(next.value);
      }
      return held[start + index];
    },
    /** Takes the next `count` lines. */
    drop(count: number) {
      start += count;
      // No more are copied than were taken. What is held for longer outlives two collections, and then waits for a full one.
      if (2 * start >= held.length) [held, start] = [held.slice(start), 0];
    },
  };
}

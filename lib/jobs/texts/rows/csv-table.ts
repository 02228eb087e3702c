import { listed } from '../../../base/index.ts';
import { csvFields } from './csv-fields.ts';
import { type CsvReader, type CsvRow, createCsvReader } from './csv-rows.ts';
import { RowsError } from './rows-error.ts';
import type { SourceLine } from './source-lines.ts';
import { openText } from './source-text.ts';

export type TableOptions = {
  /** Columns that there must be. */
  readonly requested: readonly string[];
  readonly name?: string | undefined;
  readonly separator?: string | undefined;
  readonly encoding?: string | undefined;
};

/** A CSV whose header was read. */
export type CsvTable = {
  readonly separator: string;
  readonly names: readonly string[];
  /** Its rows in order, once, each with as many fields as there are names, or a fault. */
  readonly rows: () => AsyncGenerator<CsvRow>;
};

/** Reads the header of a CSV. Throws `RowsError`, as `readHeader` does. */
export async function openTable(
  lines: AsyncIterator<SourceLine>,
  { requested, name = '', separator: given }: TableOptions,
): Promise<CsvTable> {
  const reader = createCsvReader(lines);
  const byName = /\.tsv(\.gz)?$/i.test(name) ? '\t' : undefined;
  const { separator, names } = await readHeader(reader, { requested, separator: given ?? byName });
  return { separator, names, rows: () => reader.rows({ separator, fieldCount: names.length }) };
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

/** The separators that are tried, likeliest first. */
const SEPARATORS = [',', ';', '\t', '|'] as const;

/** The header of a CSV file: its separator, and its column names in order. */
type CsvHeader = { readonly separator: string; readonly names: readonly string[] };

/**
 * Reads the header. The separator is the given one, or that of a line such as `sep=;` before the header, or the one
 * found most often outside quotes that yields all requested columns. Throws `RowsError` for a header that is missing or
 * broken, that names a column twice, or that lacks one.
 */
async function readHeader(
  reader: Pick<CsvReader, 'header'>,
  {
    requested,
    separator,
  }: { readonly requested: readonly string[]; readonly separator?: string | undefined },
): Promise<CsvHeader> {
  const first = await reader.header();
  const [, declared] = /^"?sep=(.)"?$/i.exec(first?.text ?? '') ?? [];
  const header = declared === undefined ? first : await reader.header();
  if (header === undefined) throw new RowsError({ kind: 'header', expected: 'column names', got: 'nothing' });
  const fault = header.fault ?? (header.unclosed ? 'an unclosed quote' : undefined);
  if (fault !== undefined) throw new RowsError({ kind: 'header', expected: 'column names', got: fault });
  const given = separator ?? declared;
  const candidates = (given === undefined ? byFrequency(header.text) : [given]).map((each) =>
    namesBy(header.text, each),
  );
  const chosen = candidates.find(({ names }) => missingIn(names, requested).length === 0) ?? candidates[0];
  return checked(chosen ?? { separator: ',', names: [] }, requested);
}

type Candidate = CsvHeader & { readonly fault?: string };

function namesBy(text: string, separator: string): Candidate {
  const parsed = csvFields(text, separator);
  return parsed.kind === 'fields'
    ? { separator, names: parsed.fields.map((name) => name.trim()) }
    : { separator, names: [], fault: parsed.fault };
}

function byFrequency(header: string): readonly string[] {
  const outside = header.replaceAll(/"[^"]*"/g, '');
  const counted = SEPARATORS.map((separator) => ({ separator, count: outside.split(separator).length }));
  return counted.sort((a, b) => b.count - a.count).map(({ separator }) => separator);
}

function checked({ separator, names, fault }: Candidate, requested: readonly string[]): CsvHeader {
  if (fault !== undefined) throw new RowsError({ kind: 'header', expected: 'column names', got: fault });
  // Separators at the ends of lines make columns without a name, which nobody can request.
  const twice = repeated(names.filter((name) => name !== ''));
  if (twice.length > 0) {
    const got = `${listed(twice)} more than once`;
    throw new RowsError({ kind: 'header', expected: 'each name once', got });
  }
  const missing = missingIn(names, requested);
  if (missing.length > 0) throw new RowsError({ kind: 'columns', missing, present: names });
  return { separator, names };
}

function missingIn(names: readonly string[], requested: readonly string[]): readonly string[] {
  const there = new Set(names);
  return requested.filter((name) => !there.has(name));
}

/** The names that occur more than once, each once. */
function repeated(names: readonly string[]): readonly string[] {
  const [seen, twice] = [new Set<string>(), new Set<string>()];
  for (const name of names) (seen.has(name) ? twice : seen).add(name);
  return [...twice];
}

import { csvFields } from './csv-fields.ts';
import type { CsvReader } from './csv-rows.ts';
import { RowsError } from './rows-error.ts';

/** The separators that are looked for, likeliest first. */
const SEPARATORS = [',', ';', '\t', '|'] as const;

/** The header of a CSV file: its separator, and its names in order. */
export type CsvHeader = { readonly separator: string; readonly names: readonly string[] };

/**
 * Reads the header. Without a separator it is the one that stands most often outside quotes, if the columns that are
 * asked for are there by it; a line `sep=;` before the header names it too. Throws `RowsError` for a header that is
 * missing or broken, that names a column twice, or that lacks one.
 */
export async function readHeader(
  reader: Pick<CsvReader, 'header'>,
  { asked, separator }: { readonly asked: readonly string[]; readonly separator?: string | undefined },
): Promise<CsvHeader> {
  const first = await reader.header();
  const [, told] = /^"?sep=(.)"?$/i.exec(first?.text ?? '') ?? [];
  const header = told === undefined ? first : await reader.header();
  if (header === undefined)
    throw new RowsError({ kind: 'header', expected: 'names of columns', got: 'nothing' });
  const fault = header.fault ?? (header.unclosed ? 'a quote that does not close' : undefined);
  if (fault !== undefined) throw new RowsError({ kind: 'header', expected: 'names of columns', got: fault });
  const given = separator ?? told;
  const candidates = (given === undefined ? byFrequency(header.text) : [given]).map((each) =>
    namesBy(header.text, each),
  );
  const chosen = candidates.find(({ names }) => asked.every((name) => names.includes(name))) ?? candidates[0];
  return checked(chosen ?? { separator: ',', names: [] }, asked);
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

function checked({ separator, names, fault }: Candidate, asked: readonly string[]): CsvHeader {
  if (fault !== undefined) throw new RowsError({ kind: 'header', expected: 'names of columns', got: fault });
  // Columns without a name come of separators at the ends of lines, and nobody can ask for them.
  const twice = names.filter((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice.length > 0) {
    const got = `${[...new Set(twice)].map((name) => JSON.stringify(name)).join(', ')} more than once`;
    throw new RowsError({ kind: 'header', expected: 'each name once', got });
  }
  const lacking = asked.filter((name) => !names.includes(name));
  if (lacking.length > 0) throw new RowsError({ kind: 'columns', lacking, there: names });
  return { separator, names };
}

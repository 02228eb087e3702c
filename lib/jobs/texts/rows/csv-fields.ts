import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';

/** The fields of a row, or why they cannot be told apart. `isStrayQuote`: a quote stands in a field without quotes. */
export type CsvFields =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | { readonly kind: 'broken'; readonly fault: string; readonly isStrayQuote?: boolean };

const broken = (fault: string, isStrayQuote = false): CsvFields => ({ kind: 'broken', fault, isStrayQuote });

/** Splits the text of one row, without the end of its last line, as RFC 4180 says. */
export function csvFields(row: string, separator: string): CsvFields {
  try {
    const rows: string[][] = parse(row, {
      delimiter: separator,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      max_record_size: 0,
    });
    const [fields, second] = rows;
    if (second !== undefined) return broken('a line break: expected it in quotes');
    // Without a character there is one field, and it is empty.
    return { kind: 'fields', fields: fields ?? [''] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return broken(FAULTS[error.code] ?? `the row: ${error.code}`, error.code === 'INVALID_OPENING_QUOTE');
  }
}

/** The parser's own messages show what the field holds. */
const FAULTS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE:
    'a broken quote: expected a field with quotes in it to be in quotes, got one that is not',
  CSV_INVALID_CLOSING_QUOTE:
    'a broken quote: expected a separator or the end of the row after it, or the quote twice, got something else',
  CSV_QUOTE_NOT_CLOSED: 'a broken quote: expected it to be closed, got the end',
};

import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';

/** The fields of a row, or why they cannot be split. `isStrayQuote`: there is a quote inside an unquoted field. */
export type CsvFields =
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  | {
      readonly kind: 'broken';
      readonly fault: string;
      readonly isStrayQuote?: boolean;
      /** Those of a row that has too many or too few. */
      readonly fields?: readonly string[];
    };

const broken = (fault: string, isStrayQuote = false): CsvFields => ({ kind: 'broken', fault, isStrayQuote });

/** Splits the text of one row (without its final line ending) as RFC 4180 says. */
export function csvFields(row: string, separator: string): CsvFields {
  try {
    const rows: string[][] = parse(row, {
      delimiter: separator,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      max_record_size: 0,
    });
    const [fields, second] = rows;
    if (second !== undefined) return broken('a line break: expected it inside quotes');
    // An empty row is one field, and it is empty.
    return { kind: 'fields', fields: fields ?? [''] };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return broken(FAULTS[error.code] ?? `the row: ${error.code}`, error.code === 'INVALID_OPENING_QUOTE');
  }
}

/** Used instead of the parser's own messages, which show what the field contains. */
const FAULTS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE:
    'a broken quote: expected a field that contains quotes to be quoted, got an unquoted one',
  CSV_INVALID_CLOSING_QUOTE:
    'a broken quote: expected it to be doubled, or followed by a separator or the end of the row, got something else',
  CSV_QUOTE_NOT_CLOSED: 'a broken quote: expected it to be closed, got the end of the row',
};

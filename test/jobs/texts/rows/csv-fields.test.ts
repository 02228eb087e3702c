import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CsvFields, csvFields } from '../../../../lib/jobs/texts/rows/csv-fields.ts';

/** What another parser makes of a row, in the same words. */
function byCsvParse(row: string, delimiter: string): string {
  try {
    const options = { delimiter, record_delimiter: ['\r\n', '\n', '\r'], relax_column_count: true };
    const [fields = [''], second]: string[][] = parse(row, options);
    return second === undefined ? JSON.stringify(fields) : 'it inside quotes';
  } catch (error) {
    return error instanceof CsvError ? (FAULTS[error.code] ?? error.code) : String(error);
  }
}

const FAULTS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: 'an unquoted one',
  CSV_INVALID_CLOSING_QUOTE: 'something else',
  CSV_QUOTE_NOT_CLOSED: 'the end of the row',
};

const inWords = (parsed: CsvFields) =>
  parsed.kind === 'fields' ? JSON.stringify(parsed.fields) : parsed.fault.split(/, got |: expected /).at(-1);

test('rows have the fields, and the faults, that another parser finds', () => {
  const piece = fc.constantFrom('a', 'é', '"', ',', ';', '\n', '\r', ' ', '""', ',"', '",', '"\n');
  const rows = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));

  fc.assert(
    fc.property(
      rows.filter((row) => !/[\r\n]$/.test(row)),
      fc.constantFrom(',', ';'),
      (row, separator) => {
        expect(inWords(csvFields(row, separator))).toBe(byCsvParse(row, separator));
      },
    ),
    { numRuns: 2_000 },
  );
});

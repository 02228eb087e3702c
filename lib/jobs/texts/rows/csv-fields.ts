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
  const fields: string[] = [];
  let hasLineBreak = false;
  for (let at = 0; ; at += separator.length) {
    const field = row[at] === '"' ? quoted(row, at) : unquoted(row, at, separator);
    if (typeof field === 'string') return broken(field, field === STRAY);
    fields.push(field.text);
    at = field.end;
    if (at === row.length) break;
    if (row.startsWith(separator, at)) continue;
    if (!LINE_BREAK.test(row[at] ?? '')) return broken(CLOSED_EARLY);
    // The rest is another row, which may have a worse fault.
    hasLineBreak = true;
    at += 1 - separator.length;
  }
  return hasLineBreak ? broken('a line break: expected it inside quotes') : { kind: 'fields', fields };
}

const LINE_BREAK = /[\r\n]/;

/** A field, and where it ends. */
type Field = { readonly text: string; readonly end: number };

function unquoted(row: string, from: number, separator: string): Field | string {
  const found = row.indexOf(separator, from);
  const whole = row.slice(from, found < 0 ? row.length : found);
  const lineBreak = whole.search(LINE_BREAK);
  const text = lineBreak < 0 ? whole : whole.slice(0, lineBreak);
  return text.includes('"') ? STRAY : { text, end: from + text.length };
}

/** A field whose opening quote is at `from`; the quotes in it are doubled. */
function quoted(row: string, from: number): Field | string {
  let text = '';
  for (let at = from + 1; ; ) {
    const end = row.indexOf('"', at);
    if (end < 0) return 'a broken quote: expected it to be closed, got the end of the row';
    text += row.slice(at, end);
    if (row[end + 1] !== '"') return { text, end: end + 1 };
    text += '"';
    at = end + 2;
  }
}

const STRAY = 'a broken quote: expected a field that contains quotes to be quoted, got an unquoted one';
const CLOSED_EARLY =
  'a broken quote: expected it to be doubled, or followed by a separator or the end of the row, got something else';

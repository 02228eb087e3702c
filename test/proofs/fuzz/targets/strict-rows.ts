import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { decoded } from './exact-reference.ts';

type Given = { readonly bytes: string; readonly format: string; readonly encoding: string };

/**
 * The id and text of each row according to another parser that reads the whole file at once; `fault` for a row
 * without a text or id. Undefined if that parser rejects the file, or may legitimately read it differently.
 */
export const strictRows = (given: Given): readonly unknown[] | undefined =>
  isUtf8(given) && !given.bytes.startsWith('\xef\xbb\xbf') && !given.bytes.startsWith('\x1f\x8b')
    ? given.format === 'csv'
      ? strictCsv(given.bytes)
      : given.format === 'ndjson'
        ? strictNdjson(given.bytes)
        : undefined
    : undefined;

/** Whether the file is declared as UTF-8, or has the same bytes in every encoding. */
const isUtf8 = ({ encoding, bytes }: Given) =>
  encoding === 'utf-8' || (encoding === '' && /^[\t\r\n -~]*$/.test(bytes));

function strictCsv(bytes: string): readonly unknown[] | undefined {
  const text = decoded(bytes);
  if (text === undefined || !/^id,text(?:\r\n|\r|\n|$)/.test(text)) return undefined;
  try {
    const [, ...read]: string[][] = parse(text, {
      delimiter: ',',
      record_delimiter: ['\r\n', '\n', '\r'],
      skip_empty_lines: true,
    });
    // Our reader treats a line of spaces as blank, the other one as a row of one field.
    // A row whose cells are all blank, such as a cleared row, does not count as a row here.
    return read
      .filter((cells) => cells.some((cell) => /\S/.test(cell)))
      .map(([id = '', value = '']) => (/\S/.test(value) && id.trim() !== '' ? [id, value] : 'fault'));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return undefined;
  }
}

function strictNdjson(bytes: string): readonly unknown[] | undefined {
  const text = decoded(bytes);
  if (text === undefined) return undefined;
  return text
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim() !== '')
    .map(rowOf);
}

function rowOf(line: string): unknown {
  const value: unknown = parsed(line);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'fault';
  const { id, text } = Object.fromEntries(Object.entries(value));
  if (typeof text !== 'string' || !/\S/.test(text)) return 'fault';
  if (typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint') return 'fault';
  return String(id).trim() === '' ? 'fault' : [String(id), text];
}

/** Parses JSON with every integer exact; undefined for invalid JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line, (_name, value, { source = '' }) =>
      typeof value === 'number' && /^-?\d+$/.test(source) && !Number.isSafeInteger(value)
        ? BigInt(source)
        : value,
    );
  } catch {
    return undefined;
  }
}

import { type BadRow, openRows, type Row, type RowsOptions } from '../../../lib/jobs/texts/rows/read-rows.ts';

/** Text as bytes of an encoding with one byte per character. Throws for a character that the encoding lacks. */
export function singleBytes(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding);
  const codes = new Map(
    Array.from({ length: 256 }, (_, code) => [decoder.decode(Uint8Array.of(code)), code] as const),
  );
  return Buffer.from(
    [...text].map((character) => {
      const code = codes.get(character);
      if (code === undefined) throw new Error(`${encoding} has no ${character}`);
      return code;
    }),
  );
}

/** Text as UTF-16 with a byte order mark. */
export const utf16le = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
export const utf16be = (text: string) => utf16le(text).swap16();

/** Yields the bytes in pieces of one size. */
export async function* inPieces(bytes: Uint8Array, sizeBytes: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.byteLength; from += sizeBytes) yield bytes.subarray(from, from + sizeBytes);
}

/** The rows of a source, in order. */
export async function* readRows(
  bytes: AsyncIterable<Uint8Array>,
  options: RowsOptions,
): AsyncGenerator<Row | BadRow> {
  await using source = await openRows(bytes, options);
  for await (const { row } of source.rows()) yield row;
}

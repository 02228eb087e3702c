import { RowsError } from './rows-error.ts';

/** Files that are taken for texts, by their first bytes: what each is, and what to do about it. */
const KINDS: readonly { readonly bytes: readonly number[]; readonly is: string }[] = [
  { bytes: [0x50, 0x4b, 0x03, 0x04], is: 'a ZIP archive or an Excel workbook: save its sheet as CSV' },
  { bytes: [0xd0, 0xcf, 0x11, 0xe0], is: 'an Excel workbook of an old version: save its sheet as CSV' },
  { bytes: [0x50, 0x41, 0x52, 0x31], is: 'a Parquet file: `platform-sync query` writes it as CSV' },
  { bytes: [0x28, 0xb5, 0x2f, 0xfd], is: 'a file compressed by zstd: decompress it, or use gzip' },
  { bytes: [0x42, 0x5a, 0x68], is: 'a file compressed by bzip2: decompress it, or use gzip' },
  { bytes: [0xfd, 0x37, 0x7a, 0x58], is: 'a file compressed by xz: decompress it, or use gzip' },
  { bytes: [0x25, 0x50, 0x44, 0x46, 0x2d], is: 'a PDF' },
  { bytes: [0xff, 0xfe, 0x00, 0x00], is: 'UTF-32: save it as UTF-8' },
  { bytes: [0x00, 0x00, 0xfe, 0xff], is: 'UTF-32: save it as UTF-8' },
];

/** Throws `RowsError` for the bytes of a file that holds no text, which is named. `head`: decompressed, if gzipped. */
export function refuseOtherKinds(head: Uint8Array): void {
  const kind = KINDS.find(({ bytes }) => bytes.every((byte, at) => head[at] === byte));
  if (kind !== undefined) throw notRows(kind.is);
}

/** A file that cannot be read as rows of texts. */
export const notRows = (got: string) =>
  new RowsError({ kind: 'format', expected: 'CSV, NDJSON or a JSON array of objects', got });

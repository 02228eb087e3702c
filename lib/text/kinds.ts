const CSV = 'save its sheet as CSV UTF-8';
const CONVERT = 'save it as text first';
const UNPACK = 'decompress it, or use gzip';

/** Files that are taken for texts, by how they begin (one character a byte): what each is, and what to do. */
const BEGINNINGS: readonly (readonly [beginning: string | RegExp, is: string])[] = [
  ['\xd0\xcf\x11\xe0', `an Excel workbook of an old version, or one with a password: ${CSV}`],
  ['PAR1\x15', 'a Parquet file: `platform-sync query` writes it as CSV'],
  ['SQLite format 3\0', 'an SQLite database: export the table as CSV'],
  ['ARROW1\0', 'an Arrow file: export it as CSV'],
  ['Obj\x01', 'an Avro file: export it as NDJSON'],
  ['%PDF-', `a PDF: ${CONVERT}`],
  ['{\\rtf', `a text with formats (RTF): ${CONVERT}`],
  ['\x89PNG', `an image (PNG): ${CONVERT}`],
  ['\xff\xd8\xff', `an image (JPEG): ${CONVERT}`],
  [/^GIF8[79]a/, `an image (GIF): ${CONVERT}`],
  ['II*\0', `an image (TIFF): ${CONVERT}`],
  ['MM\0*', `an image (TIFF): ${CONVERT}`],
  [/^RIFF[\s\S]{4}/, `an image, sound or video: ${CONVERT}`],
  ['\x28\xb5\x2f\xfd', `a file compressed by zstd: ${UNPACK}`],
  [/^BZh[1-9]/, `a file compressed by bzip2: ${UNPACK}`],
  ['\xfd7zXZ\0', `a file compressed by xz: ${UNPACK}`],
  ['7z\xbc\xaf\x27\x1c', `a 7-Zip archive: ${UNPACK}`],
  ['Rar!\x1a\x07', `a RAR archive: ${UNPACK}`],
  [/^[\s\S]{257}ustar/, 'a tar archive: take the file out of it'],
  ['bplist00', 'a property list of macOS: export it as CSV'],
  ['\x7fELF', 'a program'],
  [
    /^(\xef\xbb\xbf)?\s*<\?xml[\s\S]*<\?mso-application|^(\xef\xbb\xbf)?\s*<\?xml[\s\S]{0,400}<Workbook/,
    `an Excel workbook (XML): ${CSV}`,
  ],
  [/^(\xef\xbb\xbf)?\s*<\?xml/, 'XML: export it as CSV or JSON'],
  [
    /^(\xef\xbb\xbf)?\s*<(!doctype html|html|head|body|table|meta)\b/i,
    'a web page: open it in a spreadsheet, and save it as CSV UTF-8',
  ],
];

/** The files of ZIP archives that are one document, by the names in them. */
const ZIPS: readonly (readonly [name: RegExp, is: string])[] = [
  [/xl\/|\[Content_Types\]\.xml[\s\S]*spreadsheetml/, `an Excel workbook: ${CSV}`],
  [/opendocument\.spreadsheet/, `an OpenDocument workbook: ${CSV}`],
  [/Index\/|\.iwa|Index\.zip/, `a Numbers document: export it as CSV, in Unicode (UTF-8)`],
  [/word\/|ppt\/|opendocument\./, `an office document: ${CONVERT}`],
];

/** What a file is that holds no text, and what to do about it, by its first bytes; undefined for a text. */
export function otherKind(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1');
  if (['PK\x03\x04', 'PK\x05\x06'].some((first) => text.startsWith(first)))
    return ZIPS.find(([name]) => name.test(text))?.[1] ?? 'a ZIP archive: take the file out of it';
  return BEGINNINGS.find(([beginning]) =>
    typeof beginning === 'string' ? text.startsWith(beginning) : beginning.test(text),
  )?.[1];
}

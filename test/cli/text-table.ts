import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';

/** The formats in which spreadsheets save, by their names in menus: the encoding, and whether there is a byte order mark. */
export const SAVED_AS = {
  'CSV UTF-8': ['utf-8', true],
  'Numbers, UTF-8': ['utf-8', false],
  'CSV of Windows': ['windows-1252', false],
  'CSV of Windows, Central Europe': ['windows-1250', false],
  'CSV of the Mac': ['macintosh', false],
  'CSV of DOS, Western': ['cp850', false],
  'CSV of DOS, US': ['cp437', false],
  'Unicode text': ['utf-16le', true],
  'UTF-16, the other way round': ['utf-16be', true],
  'UTF-16 without a mark': ['utf-16le', false],
} as const;
type SavedAs = keyof typeof SAVED_AS;

const LINE_ENDS = { LF: '\n', CRLF: '\r\n', CR: '\r' } as const;
const SEPARATORS = [',', ';', '\t', '|'] as const;

export type Row = readonly [id: string, text: string, note: string];
type Rows = readonly Row[];

const ASCII: Rows = [
  ['1', 'fine', 'x'],
  ['2', 'a, b; c | d', 'said "so"'],
];
/** Texts in the languages of each encoding, some of which are ambiguous between encodings. */
const TEXTS: Readonly<Record<string, Rows>> = {
  'windows-1250': [['3', 'Świetny produkt, ale długo czekałem', 'zażółć']],
  other: [
    ['3', 'Größe für Köln', 'schön'],
    ['4', 'très déçu', 'Ä'],
  ],
};

/** Defects of a file. Despite each of them, the same rows must be read. */
const DEFECTS = {
  none: (lines: readonly string[]) => lines,
  'without trailing empty fields': (lines: readonly string[], separator: string) =>
    lines.map((line, at) => (at === 0 ? `${line}${separator}more${separator}` : line)),
  'more separators': (lines: readonly string[], separator: string) =>
    lines.map((line, at) => (at === 0 ? line : `${line}${separator}${separator}`)),
  'doubled and empty names': (lines: readonly string[], separator: string) =>
    lines.map(
      (line, at) =>
        line + (at === 0 ? ['', 'twice', 'twice', '', ''] : ['', 'a', 'b', '', '']).join(separator),
    ),
  'cleared rows': (lines: readonly string[], separator: string) => [
    ...lines.slice(0, 2),
    separator.repeat(2),
    ...lines.slice(2),
    '',
    separator.repeat(2),
  ],
  'a line that names the separator': (lines: readonly string[], separator: string) => [
    `sep=${separator}`,
    ...lines,
  ],
  gzip: (lines: readonly string[]) => lines,
} as const;
type Defect = keyof typeof DEFECTS;

export type Case = {
  readonly savedAs: SavedAs;
  readonly end: keyof typeof LINE_ENDS;
  readonly separator: (typeof SEPARATORS)[number];
  readonly defect: Defect;
};

const keysOf = <K extends string>(record: Readonly<Record<K, unknown>>) => Object.keys(record) as K[];

export const ALL_CASES: readonly Case[] = keysOf(SAVED_AS).flatMap((savedAs) =>
  keysOf(LINE_ENDS).flatMap((end) =>
    SEPARATORS.flatMap((separator) => keysOf(DEFECTS).map((defect) => ({ savedAs, end, separator, defect }))),
  ),
);

/** The cases for texts without columns: each encoding and line end, plain and compressed. */
export const WHOLE_CASES: readonly Case[] = ALL_CASES.filter(
  ({ separator, defect }) => separator === ',' && (defect === 'none' || defect === 'gzip'),
);

export const rowsOf = ({ savedAs }: Case): Rows => {
  const [encoding] = SAVED_AS[savedAs];
  return [...ASCII, ...(TEXTS[encoding] ?? TEXTS['other'] ?? [])];
};

/** The file of a case with these rows and this header. */
export function fileOf(
  one: Case,
  rows: readonly Row[] = rowsOf(one),
  header: Row = ['id', 'text', 'note'],
): Buffer {
  const { separator, defect } = one;
  const quoted = (cell: string) => (/[",;|\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = [header, ...rows].map((row) => row.map(quoted).join(separator));
  return savedText(one, DEFECTS[defect](lines, separator));
}

/** The bytes of these lines in the encoding and with the line ends of a case, compressed if the case says so. */
export function savedText({ savedAs, end, defect }: Case, lines: readonly string[]): Buffer {
  const [encoding, isMarked] = SAVED_AS[savedAs];
  const text = lines.map((line) => line + LINE_ENDS[end]).join('');
  const bytes = iconv.encode(isMarked ? `\uFEFF${text}` : text, encoding, { addBOM: false });
  return defect === 'gzip' ? gzipSync(bytes) : bytes;
}

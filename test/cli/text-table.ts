import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import iconv from 'iconv-lite';
import { runCommand } from './run-command.ts';

/** What a spreadsheet saves, by the words of its menus: the encoding, and whether it has a byte order mark. */
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

type Row = readonly [id: string, text: string, note: string];
type Rows = readonly Row[];

const ASCII: Rows = [
  ['1', 'fine', 'x'],
  ['2', 'a, b; c | d', 'said "so"'],
];
/** In the languages of each encoding; texts that are in doubt in some of them are among these. */
const TEXTS: Readonly<Record<string, Rows>> = {
  'windows-1250': [['3', 'Świetny produkt, ale długo czekałem', 'zażółć']],
  other: [
    ['3', 'Größe für Köln', 'schön'],
    ['4', 'très déçu', 'Ä'],
  ],
};

/** How a file is not as it should be; each leaves its rows as they are. */
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

type Case = {
  readonly savedAs: SavedAs;
  readonly end: keyof typeof LINE_ENDS;
  readonly separator: (typeof SEPARATORS)[number];
  readonly defect: Defect;
};

export const ALL_CASES: readonly Case[] = (Object.keys(SAVED_AS) as SavedAs[]).flatMap((savedAs) =>
  (Object.keys(LINE_ENDS) as Case['end'][]).flatMap((end) =>
    SEPARATORS.flatMap((separator) =>
      (Object.keys(DEFECTS) as Defect[]).map((defect) => ({ savedAs, end, separator, defect })),
    ),
  ),
);

/** The rows that a case has, and its file. */
export function fileOf({ savedAs, end, separator, defect }: Case): { rows: Rows; bytes: Buffer } {
  const [encoding, isMarked] = SAVED_AS[savedAs];
  const rows = [...ASCII, ...(TEXTS[encoding] ?? TEXTS['other'] ?? [])];
  const quoted = (cell: string) => (/[",;|\t]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const lines = [['id', 'text', 'note'], ...rows].map((row) => row.map(quoted).join(separator));
  const text = DEFECTS[defect](lines, separator).join(LINE_ENDS[end]) + LINE_ENDS[end];
  const bytes = Buffer.concat([
    isMarked ? iconv.encode('\uFEFF', encoding, { addBOM: false }) : Buffer.alloc(0),
    iconv.encode(text, encoding, { addBOM: false }),
  ]);
  return { rows, bytes: defect === 'gzip' ? gzipSync(bytes) : bytes };
}

const TEMPLATE = JSON.stringify({
  id: 'row-{{id}}',
  type: 'run-function',
  packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  packageVersion: '1.0.0',
  functionName: 'add',
  inputVariables: { text: '{{text}}', note: '{{note}}' },
});

type Outcome =
  | { readonly kind: 'read'; readonly rows: Rows }
  | { readonly kind: 'refused'; readonly message: string; readonly withEncoding: Rows | string };

/** What the command line makes of a file; of one that it refuses, also what it makes of it once its encoding is named. */
export async function outcomeOf(one: Case, folder: string): Promise<Outcome> {
  const file = join(folder, 'rows.csv');
  const { bytes } = fileOf(one);
  await writeFile(file, bytes);
  await writeFile(join(folder, 'job.json'), TEMPLATE);
  const read = async (...more: readonly string[]) => {
    const argv = ['run', '--from-csv', file, '--template', join(folder, 'job.json'), '--dry-run', ...more];
    const { code, out, err } = await runCommand(argv, { SYNC_STORE: join(folder, 'store') });
    return { code, err, rows: code === 0 ? rowsIn(out) : err };
  };
  const first = await read();
  if (typeof first.rows !== 'string') return { kind: 'read', rows: first.rows };
  const [encoding] = SAVED_AS[one.savedAs];
  return { kind: 'refused', message: first.err, withEncoding: (await read('--encoding', encoding)).rows };
}

/** The rows of the first three jobs, as a dry run prints them. */
const rowsIn = (out: string): Rows =>
  out
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .map(({ id, inputVariables: { text, note } }) => [id.replace('row-', ''), text, note]);

/** What is wrong with the outcome of a case; undefined if nothing is. */
export function faultOf(one: Case, outcome: Outcome): string | undefined {
  const rows = JSON.stringify(fileOf(one).rows.slice(0, 3));
  const about = JSON.stringify(one);
  if (outcome.kind === 'read')
    return JSON.stringify(outcome.rows) === rows ? undefined : `${about}: ${JSON.stringify(outcome.rows)}`;
  if (!/rows\.csv: line \d+: expected .*, got .*--encoding/.test(outcome.message))
    return `${about}: ${outcome.message}`;
  if (JSON.stringify(outcome.withEncoding) === rows) return undefined;
  return `${about}, named: ${JSON.stringify(outcome.withEncoding)}`;
}

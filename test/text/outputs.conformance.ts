import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csvOf } from '../../lib/report/page/lists/rows.ts';
import { type Sandbox, startPlatform } from '../../lib/sandbox/platform/start-platform.ts';
import { enginesOf } from '../base/aws/engines.ts';
import { runCommand, settingsOf } from '../cli/run-command.ts';
import { ALL_CASES, fileOf, rowsOf, SAVED_AS } from '../cli/text-table.ts';

/* The files that commands and the page write, as Python's csv or LibreOffice reads them. */

const { pythonCsv, libreOffice } = enginesOf(process.env);

type Rows = readonly (readonly string[])[];

/** A written CSV with its encoding and separator. */
type Output = { readonly file: string; readonly encoding: string; readonly separator: string };

/** Reads a CSV. `isTrusting`: formulas in it run; otherwise every column is read as text. */
type Reader = (output: Output, isTrusting?: boolean) => Promise<Rows>;

let folder: string;
let sandbox: Sandbox;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'outputs-'));
  await mkdir(join(folder, 'store'));
  sandbox = await startPlatform({
    ...{ calculations: 0, datasets: 0, cards: 0, fileSets: 0, dataFiles: 0, latencyMs: 0 },
  });
});

afterAll(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

async function run(...argv: readonly string[]) {
  const environment = { ...settingsOf(sandbox, join(folder, 'store')), LOG_LEVEL: 'silent' };
  const { code, out, err } = await runCommand(argv, environment);
  if (code !== 0) throw new Error(err);
  return out;
}

function outputOf(command: readonly string[] | undefined, words: readonly string[]): string {
  const [program, ...first] = command ?? [];
  if (program === undefined) throw new Error('expected an engine');
  const { stdout, stderr, status } = spawnSync(program, [...first, ...words], {
    encoding: 'utf8',
    env: { ...process.env, HOME: folder },
  });
  if (status !== 0) throw new Error(stderr.slice(-2_000));
  return stdout;
}

const PYTHON = `
import csv, json, sys
with open(sys.argv[1], encoding=sys.argv[2], newline='') as f: text = f.read()
print(json.dumps(list(csv.reader(text.removeprefix('\\ufeff').splitlines(True), delimiter=sys.argv[3]))))
`;

const byPython: Reader = async ({ file, encoding, separator }) => {
  const label = encoding === 'macintosh' ? 'mac_roman' : encoding;
  return JSON.parse(outputOf(pythonCsv?.command, ['-c', PYTHON, file, label, separator]));
};

/** LibreOffice's numbers of encodings. */
const OF_FILTER: Readonly<Record<string, number>> = {
  'utf-8': 76,
  'windows-1252': 1,
  'windows-1250': 33,
  macintosh: 2,
  cp437: 3,
  cp850: 4,
  'utf-16le': 65_535,
  'utf-16be': 65_535,
};

const TEXT_COLUMNS = Array.from({ length: 8 }, (_, at) => `${at + 1}/2`).join('/');

/** Converts with LibreOffice's CSV filter, to UTF-8 with quotes around texts. */
const byLibreOffice: Reader = async ({ file, encoding, separator }, isTrusting = false) => {
  const filter = 'Text - txt - csv (StarCalc)';
  const read = [separator.charCodeAt(0), 34, OF_FILTER[encoding], 1, isTrusting ? '' : TEXT_COLUMNS];
  outputOf(libreOffice?.command, [
    `-env:UserInstallation=file://${folder}/profile`,
    '--headless',
    ...['--convert-to', `csv:${filter}:44,34,76,1,,0,true`, `--infilter=${filter}:${read.join()}`],
    ...['--outdir', join(folder, 'read'), file],
  ]);
  const text = await readFile(join(folder, 'read', basename(file)), 'utf8');
  return [...text.matchAll(/((?:"(?:[^"]|"")*"|[^,\n"]*)(?:,|(?=\n)))+\n/g)].map(([line]) =>
    [...line.matchAll(/("(?:[^"]|"")*"|[^,\n"]*)(?:,|\n)/g)].map(([, cell = '']) =>
      cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell,
    ),
  );
};

const readIt: Reader = libreOffice === undefined ? byPython : byLibreOffice;

/** Every form of a file without defects. For LibreOffice, which is slow, only one of the forms that differ in line ends. */
const FORMS = ALL_CASES.filter(
  ({ defect, end, separator, savedAs }) =>
    defect === 'none' &&
    (libreOffice === undefined ||
      end === (['LF', 'CRLF', 'CR'] as const)[(savedAs.length + separator.charCodeAt(0)) % 3]),
);

describe('score --output', () => {
  test.each(FORMS)('is read back from $savedAs with $separator and $end', async (one) => {
    const { savedAs, separator } = one;
    const [encoding] = SAVED_AS[savedAs];
    const from = join(folder, 'rows.csv');
    const file = join(folder, 'scored.csv');
    await writeFile(from, fileOf(one));

    const flags = ['--text', 'text', '--id', 'id', '--encoding', encoding, '--output', file];
    await run('score', from, ...flags, '--batch', `form-${FORMS.indexOf(one)}`);

    const rows = await readIt({ file, encoding, separator });
    expect(rows.map((row) => row.slice(0, 3))).toEqual([['id', 'text', 'note'], ...rowsOf(one)]);
    expect(rows[0]?.slice(3)).toEqual(['sentiment', 'model', 'error']);
  });

  test('for Excel is UTF-8, whatever the encoding of the source', async () => {
    const one = { savedAs: 'CSV of Windows', end: 'CRLF', separator: ';', defect: 'none' } as const;
    const from = join(folder, 'rows.csv');
    const file = join(folder, 'excel.csv');
    await writeFile(from, fileOf(one));

    const flags = ['--text', 'text', '--encoding', 'windows-1252', '--output', file, '--csv-for', 'excel'];
    await run('score', from, ...flags, '--batch', 'excel');

    const rows = await readIt({ file, encoding: 'utf-8', separator: ';' });
    expect(rows.slice(1).map((row) => row.slice(0, 3))).toEqual(rowsOf(one));
    expect((await readFile(file)).subarray(0, 3)).toEqual(Buffer.from('\uFEFF'));
  });
});

/** Cells that are hard for spreadsheets, separators or quotes. */
const CELLS = [
  ...['=1+1', '+1', '-2+3', '@SUM(1)', '-5', 'Größe', 'a;b,c|d\te', 'said "so"', 'two\nlines', ' blank '],
  ...['00123', '1e3', "it's", '', '日本語'],
];

const ROWS = CELLS.map((cell, at) => [String(at), cell]);
const QUERY = `SELECT * FROM (VALUES ${ROWS.map(([at, cell = '']) => `('${at}', '${cell.replaceAll("'", "''")}')`).join()}) AS rows(number, cell)`;

const asWritten = (file: string): Output => ({ file, encoding: 'utf-8', separator: ',' });

describe('query --csv', () => {
  test.each([[[]], [['--csv-for', 'excel']]])('is read back from a file, with %j', async (flags) => {
    const file = join(folder, 'query.csv');

    await run('query', QUERY, '--csv', file, ...flags);

    expect(await readIt(asWritten(file))).toEqual([['number', 'cell'], ...ROWS]);
  });

  test('is read back from standard output', async () => {
    const file = join(folder, 'printed.csv');

    await writeFile(file, `${await run('query', QUERY, '--csv')}\n`);

    expect(await readIt(asWritten(file))).toEqual([['number', 'cell'], ...ROWS]);
  });
});

test('the CSV of the report page is read back', async () => {
  const file = join(folder, 'page.csv');
  const columns = [0, 1].map((at) => ({ label: `c${at}`, text: (row: number) => ROWS[row]?.[at] ?? '' }));

  await writeFile(file, `\uFEFF${csvOf(columns as never, [...ROWS.keys()])}`);

  expect(await readIt(asWritten(file))).toEqual([['c0', 'c1'], ...ROWS]);
});

describe.runIf(libreOffice !== undefined)('a spreadsheet that runs formulas', () => {
  test('runs those of unchanged cells, and none of safe ones', async () => {
    const file = join(folder, 'run.csv');
    const found = async () => (await readIt(asWritten(file), true)).slice(1, 6).map(([, cell]) => cell);

    await run('query', QUERY, '--csv', file);
    const asTheyAre = await found();
    await run('query', QUERY, '--csv', file, '--csv-safe');

    expect(asTheyAre[0]).toBe('2');
    expect(await found()).toEqual(["'=1+1", '1', "'-2+3", "'@SUM(1)", '-5']);
  });
});

import { randomUUID } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { judgeFormula } from '../../lib/formula/index.ts';
import { splitInbox } from '../../lib/jobs/split-inbox.ts';
import { createScoreCache } from '../../lib/jobs/texts/cache/score-cache.ts';
import type { Sandbox } from '../../lib/sandbox/platform/start-platform.ts';
import { fakeWorker } from '../jobs/fake-worker.ts';
import { memoryQueue } from '../jobs/memory-queue.ts';
import { runCommand, settingsOf } from './run-command.ts';
import { type Case, fileOf, type Row, rowsOf, SAVED_AS, savedText } from './text-table.ts';

/*
 * Every way in which a user's file is read. Commands run in this process, since a process for each of thousands of
 * files would take an hour; the inbox runs by the function that its handler calls.
 */

export type Place = { readonly folder: string; readonly sandbox: Sandbox };

/** The result of reading a file: its rows or text, or why it was refused. */
type Read = { readonly found: unknown } | { readonly refused: string };

type FileReader = {
  /** The name under which the file is written. */
  readonly file: string;
  /** The content of the file, and what must be read from it. */
  readonly give: (one: Case, place: Place) => { readonly bytes: Buffer; readonly found: unknown };
  /** Reads the file. `encoding`: the value of the option that the error suggests. */
  readonly read: (file: string, place: Place, encoding?: string) => Promise<Read>;
  /** There is no option for the encoding: the error suggests saving the file as UTF-8. */
  readonly needsUtf8?: true;
};

const named = (encoding: string | undefined) => (encoding === undefined ? [] : ['--encoding', encoding]);

async function run(argv: readonly string[], { sandbox, folder }: Place, input?: Uint8Array) {
  const environment = { ...settingsOf(sandbox, join(folder, 'store')), LOG_LEVEL: 'silent' };
  return runCommand(argv, environment, input);
}

const jsonLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/* Jobs built from rows; a dry run prints the first three. */

const TEMPLATE = {
  id: 'row-{{id}}',
  type: 'run-function',
  packageId: '6f1d2c84-3b7e-4a59-9c0d-8e25b1a7f403',
  packageVersion: '1.0.0',
  functionName: 'add',
  inputVariables: { text: '{{text}}', note: '{{note}}' },
};

async function readJobs(argv: readonly string[], place: Place): Promise<Read> {
  const { code, out, err } = await run([...argv, '--dry-run'], place);
  if (code !== 0) return { refused: err };
  return { found: cellsOf(jsonLines(out)) };
}

type Job = { readonly id: string; readonly inputVariables: { readonly text: string; readonly note: string } };

const cellsOf = (jobs: readonly Job[]): readonly Row[] =>
  jobs.map(({ id, inputVariables: { text, note } }) => [id.replace('row-', ''), text, note]);

const jobsOf = (command: 'run' | 'submit'): FileReader => ({
  file: 'rows.csv',
  give: (one) => ({ bytes: fileOf(one), found: rowsOf(one).slice(0, 3) }),
  async read(file, place, encoding) {
    const template = join(place.folder, 'job.json');
    await writeFile(template, JSON.stringify(TEMPLATE));
    return readJobs([command, '--from-csv', file, '--template', template, ...named(encoding)], place);
  },
});

const jsonOf = (name: string, [id, text, note]: Row) =>
  JSON.stringify({ id, [name]: text, note, version: 1 });

/** Formulas: id, name and check sum of each. */
const formulas: FileReader = {
  file: 'formulas.csv',
  give(one) {
    const rows = rowsOf(one).map(([id, text, note]): Row => [id, text, `'${note}'`]);
    const sums = rows.map(([id, name, formula]) => [id, name, judgeFormula(formula, 'it').checkSum]);
    return { bytes: fileOf(one, rows, ['id', 'name', 'expression']), found: sums };
  },
  async read(file, place, encoding) {
    const argv = ['formula', 'apply', file, '--name', 'may', '--dry-run', '--json', ...named(encoding)];
    const { code, out, err } = await run([...argv, '--no-undo-for', '1', '2', '3', '4'], place);
    if (code !== 0) return { refused: err };
    type Set = { readonly rows: readonly { id: string; name: string; checkSum: string }[] };
    const { rows } = JSON.parse(out) as Set;
    return { found: rows.map(({ id, name, checkSum }) => [id, name, checkSum]) };
  },
};

async function readScored(file: string, place: Place, encoding?: string): Promise<Read> {
  const output = join(place.folder, 'scored.ndjson');
  const argv = ['score', file, '--text', 'text', '--id', 'id', '--output', output, ...named(encoding)];
  // Two batches of the same second would get the same default name.
  const { code, err } = await run([...argv, '--batch', randomUUID()], place);
  if (code !== 0) return { refused: err };
  return { found: jsonLines(await readFile(output, 'utf8')).map(({ id, text, note }) => [id, text, note]) };
}

const texts: FileReader = {
  file: 'rows.csv',
  give: (one) => ({ bytes: fileOf(one), found: rowsOf(one) }),
  read: readScored,
};

const idsOf = (source: 'data-files' | 'cards', flag: string): FileReader => {
  const idsIn = ({ sandbox }: Place) => sandbox.ids()[source === 'cards' ? 'datasets' : 'dataFiles'];
  return {
    file: 'ids.csv',
    give(one, place) {
      const ids = idsIn(place);
      const rows = rowsOf(one).map(([, text, note], at): Row => [text, ids[at] ?? '', note]);
      const found = ids.slice(0, rows.length).toSorted();
      return { bytes: fileOf(one, rows, ['Name', 'Which one', 'note']), found };
    },
    read: (file, place) =>
      readIds(['snapshot', source, `--${flag}-from`, file, `--${flag}-column`, 'Which one'], place),
  };
};

async function readIds(argv: readonly string[], place: Place): Promise<Read> {
  const { code, out, err } = await run([...argv, '--as', randomUUID(), '--json'], place);
  if (code !== 0) return { refused: err };
  const { ids, datasets } = JSON.parse(out).selection;
  return { found: (ids ?? datasets).toSorted() };
}

const OBJECT = 'inbox/rows.csv';

/** The texts of the first job that a request in the inbox becomes, and its instructions. */
async function splitIn(objects: Readonly<Record<string, Uint8Array>>): Promise<Read> {
  const fake = fakeWorker({});
  const { ledger, store, batches } = fake;
  for (const [key, body] of Object.entries(objects)) await store.put(key, body);
  const cache = createScoreCache({ ...batches, host: 'h', owner: 'w', attemptMs: 60_000 });
  const { table } = batches;
  const storage = { store, table, ledger, cache, batches, host: 'h', checkTable: async () => undefined };
  const queue = memoryQueue();
  const logger = pino({ level: 'silent' });
  const outcome = await splitInbox('inbox/may.json', { storage, queue, rate: 1, logger });
  if (outcome.kind === 'refused') return { refused: JSON.stringify(await fake.stored(outcome.refused)) };
  const [job] = queue.bodies().map((body) => JSON.parse(body));
  return {
    found: [...job.texts.map(({ text }: Record<string, string>) => text), job.instructions],
  };
}

const inbox: FileReader = {
  file: 'rows.csv',
  give: (one) => ({
    bytes: fileOf(one),
    found: [...rowsOf(one).map(([, text]) => text), null],
  }),
  async read(file, _, encoding) {
    const request = JSON.stringify({ object: OBJECT, text: 'text', id: 'id', encoding });
    return splitIn({ 'inbox/may.json': Buffer.from(request), [OBJECT]: await readFile(file) });
  },
};

/** Everything that reads a file of rows, by command. */
export const readersOfRows: Readonly<Record<string, FileReader>> = {
  'run --from-csv': jobsOf('run'),
  'submit --from-csv': jobsOf('submit'),
  'formula apply': formulas,
  score: texts,
  'snapshot data-files --ids-from': idsOf('data-files', 'ids'),
  'snapshot cards --datasets-from': idsOf('cards', 'datasets'),
  'the inbox': inbox,
};

/* Texts that are not tables. `wordsOf`: words that only the right encoding reads correctly. */

const wordsOf = (one: Case) => rowsOf(one)[2]?.[1] ?? '';

const jobLines = (command: 'run' | 'submit'): FileReader => ({
  file: 'jobs.ndjson',
  give(one) {
    const jobs = rowsOf(one).map(([id, text, note]) =>
      JSON.stringify({ version: 1, ...TEMPLATE, id: `row-${id}`, inputVariables: { text, note } }),
    );
    return { bytes: savedText(one, jobs), found: command === 'run' ? jobs.length : rowsOf(one).slice(0, 3) };
  },
  async read(file, place, encoding) {
    const argv = [command, file, '--dry-run', '--json', ...named(encoding)];
    const { code, out, err } = await run(argv, place);
    if (code !== 0) return { refused: err };
    const { first, rows } = JSON.parse(out);
    // `run` prints only the number of rows.
    return { found: command === 'run' ? rows : cellsOf(first) };
  },
});

const textLines = (file: string, isArray: boolean): FileReader => ({
  file,
  give(one) {
    const rows = rowsOf(one).map((row) => jsonOf('text', row));
    const lines = isArray ? ['[', ...rows.map((row, at) => `${at === 0 ? '' : ','}${row}`), ']'] : rows;
    return { bytes: savedText(one, lines), found: rowsOf(one) };
  },
  read: readScored,
});

/** Everything that reads a text without columns, or with a single one, by command. */
export const readersOfTexts: Readonly<Record<string, FileReader>> = {
  'run FILE': jobLines('run'),
  'submit FILE': jobLines('submit'),
  'score, NDJSON': textLines('rows.ndjson', false),
  'score, a JSON array': textLines('rows.json', true),
  '--template': {
    file: 'template.json',
    needsUtf8: true,
    give(one) {
      const template = { ...TEMPLATE, inputVariables: { text: wordsOf(one), note: '{{note}}' } };
      const found = [['1', wordsOf(one), 'x']];
      return { bytes: savedText(one, JSON.stringify(template, null, 2).split('\n')), found };
    },
    async read(file, place) {
      const rows = join(place.folder, 'one.csv');
      await writeFile(rows, 'id,note\n1,x\n');
      return readJobs(['run', '--from-csv', rows, '--template', file], place);
    },
  },
  '--env-file': {
    file: 'acme.env',
    needsUtf8: true,
    give: (one) => ({
      bytes: savedText(one, [`# ${wordsOf(one)}`, `SYNC_STORE="/none/${wordsOf(one)}"`]),
      found: wordsOf(one),
    }),
    async read(file) {
      const { err } = await runCommand(['runs', '--env-file', file]);
      const [, found] = /"?\/none\/([^"]*)/.exec(err) ?? [];
      return found === undefined ? { refused: err } : { found: found.split(/[:,] (?:expected|got)/)[0] };
    },
  },
  'formula check': {
    file: 'formula.txt',
    needsUtf8: true,
    give: (one) => ({
      bytes: savedText(one, [`'${wordsOf(one)}'`]),
      found: judgeFormula(`'${wordsOf(one)}'`, 'it').checkSum,
    }),
    async read(file, place) {
      const { code, out, err } = await run(['formula', 'check', file, '--json'], place);
      return code === 0 ? { found: JSON.parse(out).checkSum } : { refused: err };
    },
  },
  'query -': {
    file: 'query.sql',
    needsUtf8: true,
    give: (one) => ({
      bytes: savedText(one, [`-- ${wordsOf(one)}`, `SELECT '${wordsOf(one)}' AS text`]),
      found: [{ text: wordsOf(one) }],
    }),
    async read(file, place) {
      await mkdir(join(place.folder, 'store'), { recursive: true });
      const { code, out, err } = await run(['query', '-', '--json'], place, await readFile(file));
      return code === 0 ? { found: JSON.parse(out) } : { refused: err.replace('standard input', file) };
    },
  },
  'snapshot data-files --ids-from, one a line': {
    file: 'ids.txt',
    give: (one, { sandbox }) => {
      const ids = sandbox.ids().dataFiles;
      return { bytes: savedText(one, ids), found: ids.toSorted() };
    },
    read: (file, place) => readIds(['snapshot', 'data-files', '--ids-from', file], place),
  },
  'a request in the inbox': {
    file: 'may.json',
    needsUtf8: true,
    give: (one) => ({
      bytes: savedText(one, [
        JSON.stringify({ object: OBJECT, text: 'text', instructions: wordsOf(one), topics: undefined }),
      ]),
      found: ['fine', wordsOf(one)],
    }),
    read: async (file) =>
      splitIn({ 'inbox/may.json': await readFile(file), [OBJECT]: Buffer.from('text\nfine\n') }),
  },
};

/** What is wrong with the result for a case; undefined if nothing is. A refused file must not have been paid for. */
export async function faultOf(reader: FileReader, one: Case, place: Place): Promise<string | undefined> {
  const file = join(place.folder, reader.file);
  const { bytes, found } = reader.give(one, place);
  await writeFile(file, bytes);
  const requests = place.sandbox.counts().requests;
  const read = await reader.read(file, place);
  const about = (what: unknown) => `${JSON.stringify(one)}: ${JSON.stringify(what)}`;
  if ('found' in read)
    return JSON.stringify(read.found) === JSON.stringify(found) ? undefined : about(read.found);
  if (place.sandbox.counts().requests !== requests) return about('paid for');
  const remedy = reader.needsUtf8 ? 'save it as UTF-8' : 'encoding';
  const [encoding, isMarked] = SAVED_AS[one.savedAs];
  const isCertain = isMarked || encoding.startsWith('utf');
  const isExplained = /(\.\w+|inbox\/may\.json): line \d+: expected .*, got /s.test(read.refused);
  if (isCertain || !isExplained || !read.refused.includes(remedy)) return about(read.refused);
  if (reader.needsUtf8) return undefined;
  const again = await reader.read(file, place, encoding);
  return 'found' in again && JSON.stringify(again.found) === JSON.stringify(found) ? undefined : about(again);
}

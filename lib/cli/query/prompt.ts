import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { StoreError } from '../../store/index.ts';
import { macros, savedQueries } from '../../tables/catalog/index.ts';
import {
  type FirstRows,
  QueryError,
  savedSql,
  splitStatements,
  type TableInfo,
  type Tables,
} from '../../tables/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import {
  counted,
  type Dialog,
  type ExitStatus,
  inColumns,
  number,
  shown,
  shownLines,
} from '../terminal/terminal.ts';
import { hiddenColumns, textTable } from './print-result.ts';

type PromptOptions = {
  readonly tables: Tables;
  readonly dialog: Dialog;
  /** The maximum seconds of each query. */
  readonly seconds?: number | undefined;
  /** Aborting it ends the prompt. */
  readonly signal: AbortSignal;
  /** The file of typed lines, which later prompts recall with Up. Default: none. */
  readonly historyFile?: string | undefined;
};

/** Maximum lines in the history file. */
const MAX_HISTORY_LINES = 1_000;

/** Reads SQL line by line and prints the results, until Ctrl-D. Returns how it ended. */
export async function runPrompt(options: PromptOptions): Promise<ExitStatus> {
  const { dialog, signal } = options;
  const runner = await createRunner(options);
  const history = await openHistory(options.historyFile);
  // The lines of a statement that has no semicolon yet.
  let typed = '';
  let isOver = false;
  const lines = createInterface({
    ...dialog,
    terminal: 'isTTY' in dialog.output && dialog.output.isTTY === true,
    history: history.before,
    historySize: MAX_HISTORY_LINES,
    removeHistoryDuplicates: true,
    completer: (line: string) => runner.complete(`${typed}${line}`),
  });
  lines.once('close', () => {
    isOver = true;
  });
  const end = () => lines.close();
  const ask = () => {
    // After the input has ended, statements that were typed before still run, without a prompt.
    if (isOver) return;
    lines.setPrompt(typed === '' ? 'sql> ' : '  -> ');
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    if (runner.stop()) return;
    runner.print(typed === '' && lines.line === '' ? '\n(Ctrl-D ends)' : '');
    typed = '';
    // Deletes what was typed in the line, as Ctrl-E and Ctrl-U do.
    for (const name of ['e', 'u']) lines.write(null, { ctrl: true, name });
    ask();
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    runner.print('SQL over the store; for help: .help');
    ask();
    for await (const line of lines) {
      if (signal.aborted) break;
      await history.add(line);
      const left = await runTyped(`${typed}${line}`, runner);
      if (left === undefined) break;
      typed = left;
      ask();
    }
  } finally {
    signal.removeEventListener('abort', end);
    lines.close();
  }
  return signal.aborted ? 'stopped' : 'done';
}

/** Runs the typed command or statements. Returns the unfinished statement; undefined ends the prompt. */
async function runTyped(typed: string, runner: Awaited<ReturnType<typeof createRunner>>) {
  if (/^\s*\./.test(typed)) return (await runner.runCommand(typed)) ? undefined : '';
  const { ended, rest, hasRest } = splitStatements(`${typed}\n`);
  for (const sql of ended) await runner.run(sql);
  return hasRest ? rest : '';
}

/** The lines of earlier prompts, newest first, and a function to add a line. Only the owner can read the file. */
async function openHistory(file: string | undefined) {
  const none = { before: [], add: async () => undefined };
  if (file === undefined) return none;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const opened = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    const kept = opened.slice(-MAX_HISTORY_LINES);
    await writeFile(file, kept.map((line) => `${line}\n`).join(''), { mode: 0o600 });
    await chmod(file, 0o600);
    return {
      before: kept.reverse(),
      add: (line: string) => appendFile(file, `${line}\n`).catch(() => undefined),
    };
  } catch {
    return none;
  }
}

/** Maximum rows of a result that are printed. */
const MAX_ROWS = 1_000;

/** Runs the queries of a prompt, one at a time. */
async function createRunner({ tables, dialog: { output }, seconds, signal: stop }: PromptOptions) {
  const known = { saved: savedQueries().map(({ name }) => name), commands: promptCommands };
  // The tables after the last query; completion uses them.
  let listed = await tables.list();
  let running: AbortController | undefined;
  const print = (line: string) => void output.write(`${line}\n`);
  const runQuery = async (sql: string, signal: AbortSignal) => {
    const startMs = performance.now();
    const found = await tables.run(sql, { maxRows: MAX_ROWS, seconds, signal, onReading: print });
    const width = 'columns' in output && typeof output.columns === 'number' ? output.columns : undefined;
    for (const line of linesOf(found, width)) print(line);
    print(`${countedRows(found)}, ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
    listed = await tables.list();
  };
  /** Runs a query and prints its rows, or why it has none. */
  const run = async (sql: string): Promise<void> => {
    running = new AbortController();
    const signal = AbortSignal.any([running.signal, stop]);
    try {
      await runQuery(sql, signal);
    } catch (error) {
      if (signal.aborted) print('stopped');
      else if (error instanceof QueryError || error instanceof StoreError) print(shownLines(error.message));
      else throw error;
    } finally {
      running = undefined;
    }
  };
  return {
    print,
    complete: (statement: string) => complete(statement, { ...known, tables: listed }),
    /** Stops the query that is running; returns false if no query is running. */
    stop() {
      running?.abort(new Error('stopped by Ctrl-C'));
      return running !== undefined;
    },
    run,
    /** Runs a command of the prompt. Returns true if the prompt must end. */
    async runCommand(line: string): Promise<boolean> {
      try {
        return await runPromptCommand(line, {
          run,
          listed: () => listed,
          print: (text) => print(shown(text)),
        });
      } catch (error) {
        if (!(error instanceof UsageError || error instanceof QueryError)) throw error;
        print(shown(error.message));
        return false;
      }
    },
  };
}

function linesOf({ columns, first, faults, notes }: FirstRows, width: number | undefined): readonly string[] {
  const names = columns.map(({ name }) => name);
  const table = textTable(names, first, width);
  const hidden = hiddenColumns(columns.length, table);
  return [
    ...table.lines(first),
    ...(hidden === undefined ? [] : [hidden]),
    ...notes.map((note) => shown(note)),
    ...faults.map((fault) => `not in the result: ${shown(fault)}`),
  ];
}

function countedRows({ rows, first }: FirstRows): string {
  const all = counted(rows, 'row');
  return first.length === rows ? all : `the first ${number(first.length)} of ${all}`;
}

/** What a dot command uses: the tables, a function to print a line, and one to run a query. */
type Prompt = {
  readonly listed: () => readonly TableInfo[];
  readonly print: (line: string) => void;
  readonly run: (sql: string) => Promise<void>;
};

const NAME_WIDTH = 26;

const QUIT = '.quit';

/** The dot commands of the prompt, by their usage. */
const commands: Readonly<
  Record<
    string,
    {
      readonly help: string;
      /** Returns lines to print. */
      readonly run: (argument: string, prompt: Prompt) => readonly string[] | Promise<readonly string[]>;
    }
  >
> = {
  '.tables': {
    help: 'lists the tables, and the queries that are used like tables',
    run: (_, { listed }) => [
      ...listed().map(({ name, about }) => `${name.padEnd(NAME_WIDTH)}${about}`),
      ...macros.map(({ name, parameters, about }) => {
        const called = `${name}(${parameters.map((each) => each.replace(/_$/, '')).join(', ')})`;
        return `${called.padEnd(NAME_WIDTH)}${about}`;
      }),
    ],
  },
  '.columns TABLE': {
    help: 'lists the columns of a table',
    run(name, { listed }) {
      const table = listed().find((each) => each.name === name.toLowerCase());
      if (table === undefined)
        throw new UsageError(
          `expected the name of a table, got ${JSON.stringify(name)}; .tables lists all tables`,
        );
      const columns = table.columns.map((column) => [column.name, column.type]);
      return inColumns(['COLUMN', 'TYPE'], columns);
    },
  },
  '.saved [NAME]': {
    help: 'runs a saved query; without a name: lists them',
    async run(name, { run }) {
      if (name === '') return listSaved();
      await run(savedSql(name));
      return [];
    },
  },
  '.help': {
    help: 'prints this list',
    run: () => [
      'End SQL with a semicolon; it may have several lines. Tab completes, Up recalls, Ctrl-C stops a query or deletes what was typed.',
      ...Object.entries(commands).map(([usage, { help }]) => `${usage.padEnd(NAME_WIDTH)}${help}`),
    ],
  },
  [QUIT]: { help: 'ends the prompt, like Ctrl-D', run: () => [] },
};

/** The saved queries, one a line. */
export const listSaved = (): readonly string[] =>
  inColumns(
    ['NAME', 'SHOWS'],
    savedQueries().map(({ name, description }) => [name, description]),
  );

const byName = new Map(Object.entries(commands).map(([usage, each]) => [usage.split(' ')[0] ?? '', each]));

const promptCommands = [...byName.keys()];

/** Runs a line that begins with a dot. Returns true if the prompt must end. Throws `UsageError`. */
async function runPromptCommand(line: string, prompt: Prompt): Promise<boolean> {
  const [name = '', argument = ''] = line.trim().split(/\s+/);
  const command = byName.get(name);
  if (command === undefined)
    throw new UsageError(`expected one of ${promptCommands.join(', ')}, got ${name}`);
  for (const each of await command.run(argument, prompt)) prompt.print(each);
  return name === QUIT;
}

/** The names that completion uses. */
type Known = {
  readonly tables: readonly TableInfo[];
  readonly saved: readonly string[];
  readonly commands: readonly string[];
};

const KEYWORDS =
  'SELECT FROM WHERE GROUP BY ORDER HAVING QUALIFY LIMIT OFFSET JOIN LEFT RIGHT FULL CROSS LATERAL ON USING AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN EXISTS CASE WHEN THEN ELSE END WITH RECURSIVE UNION ALL EXCEPT INTERSECT DISTINCT VALUES CAST TRY_CAST DESCRIBE SUMMARIZE SHOW TABLES PIVOT UNPIVOT UNNEST OVER PARTITION INTERVAL DATE TIMESTAMP TRUE FALSE ASC DESC count sum min max avg list_contains lower upper'.split(
    ' ',
  );

/**
 * The possible completions of a statement, and the part that they replace, in the form of `node:readline`. `statement`:
 * everything typed, including earlier lines. If it mentions tables, only their columns are offered.
 */
export function complete(statement: string, known: Known): [completions: string[], replaced: string] {
  const line = statement.slice(statement.lastIndexOf('\n') + 1);
  const command = /^\s*(\.\w*)(?:\s+(\S*))?$/.exec(line);
  if (command !== null) return ofCommand(command[1] ?? '', command[2], known);
  const [replaced = ''] = /[\w$]*$/.exec(statement) ?? [];
  const begins = (name: string) => name.toLowerCase().startsWith(replaced.toLowerCase());
  const before = statement.slice(0, statement.length - replaced.length);
  const columns = columnsIn(statement, known.tables).filter(begins);
  // A dot is followed by a column or a field.
  if (before.endsWith('.')) return [columns, replaced];
  const tables = known.tables.map(({ name }) => name);
  const calls = macros.map(({ name, parameters }) => (parameters.length === 0 ? `${name}()` : `${name}(`));
  const names = [...tables, ...calls].filter(begins);
  if (/\b(?:from|join|describe|summarize)\s+$/i.test(before)) return [names, replaced];
  const isLower = replaced !== '' && replaced === replaced.toLowerCase();
  const keywords = KEYWORDS.filter(begins).map((word) => (isLower ? word.toLowerCase() : word));
  return [[...new Set([...columns, ...names, ...keywords])], replaced];
}

function ofCommand(command: string, argument: string | undefined, known: Known): [string[], string] {
  if (argument === undefined) return [known.commands.filter((name) => name.startsWith(command)), command];
  const names = command === '.saved' ? known.saved : known.tables.map(({ name }) => name);
  return [names.filter((name) => name.startsWith(argument)), argument];
}

/** The columns of the tables that a statement mentions; if it mentions none yet, the columns of all tables. */
function columnsIn(statement: string, tables: readonly TableInfo[]): readonly string[] {
  const words = new Set(statement.toLowerCase().match(/\w+/g));
  const named = tables.filter(({ name }) => words.has(name));
  const of = named.length > 0 ? named : tables;
  return [...new Set(of.flatMap(({ columns }) => columns.map(({ name }) => name)))];
}

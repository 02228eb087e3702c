import { appendFile, chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { StoreError } from '../../store/index.ts';
import type { FirstRows, Tables } from '../../tables/duckdb/open-tables.ts';
import { QueryError } from '../../tables/duckdb/query-error.ts';
import { splitStatements } from '../../tables/duckdb/split-statements.ts';
import { savedQueries } from '../../tables/saved-queries.ts';
import { UsageError } from '../errors/usage-error.ts';
import { counted, type Dialog, type Ended, number, shown, shownLines } from '../terminal/terminal.ts';
import { textTable } from './as-table.ts';
import { hiddenColumns } from './print-result.ts';
import { complete, promptCommands, runPromptCommand } from './prompt-commands.ts';

export type PromptOptions = {
  readonly tables: Tables;
  readonly dialog: Dialog;
  /** Stops each query after so long. */
  readonly seconds?: number | undefined;
  /** Ends the prompt. */
  readonly signal: AbortSignal;
  /** A file for the lines that are typed, which later prompts recall. Default: none. */
  readonly historyFile?: string | undefined;
};

/** Lines that are recalled. */
const MOST_LINES = 1_000;

/** Reads SQL line by line and prints what it finds, until Ctrl-D. Returns how it ended. */
export async function runPrompt(options: PromptOptions): Promise<Ended> {
  const { dialog, signal } = options;
  const runner = await createRunner(options);
  const history = await openHistory(options.historyFile);
  // The lines of a statement that has not ended yet.
  let typed = '';
  let isOver = false;
  const lines = createInterface({
    ...dialog,
    terminal: 'isTTY' in dialog.output && dialog.output.isTTY === true,
    history: history.before,
    historySize: MOST_LINES,
    removeHistoryDuplicates: true,
    completer: (line: string) => runner.complete(`${typed}${line}`),
  });
  lines.once('close', () => {
    isOver = true;
  });
  const end = () => lines.close();
  const ask = () => {
    // Once there are no more lines, what was typed before is still run.
    if (isOver) return;
    lines.setPrompt(typed === '' ? 'sql> ' : '  -> ');
    lines.prompt();
  };
  lines.on('SIGINT', () => {
    if (runner.stop()) return;
    runner.print(typed === '' && lines.line === '' ? '\n(Ctrl-D ends)' : '');
    typed = '';
    // Drops what is typed in the line, as Ctrl-E and Ctrl-U do.
    for (const name of ['e', 'u']) lines.write(null, { ctrl: true, name });
    ask();
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    runner.print('SQL over what is stored; .help says more');
    ask();
    for await (const line of lines) {
      if (signal.aborted) break;
      await history.add(line);
      const left = await take(`${typed}${line}`, runner);
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

/** Does what was typed asks for: a command, or statements. Returns what has not ended yet; undefined if the prompt is to end. */
async function take(typed: string, runner: Awaited<ReturnType<typeof createRunner>>) {
  if (/^\s*\./.test(typed)) return (await runner.runCommand(typed)) ? undefined : '';
  const { ended, rest, hasRest } = splitStatements(`${typed}\n`);
  for (const sql of ended) await runner.run(sql);
  return hasRest ? rest : '';
}

/** The lines of earlier prompts, newest first, and a way to add one: in a file that only its owner reads, if it can be. */
async function openHistory(file: string | undefined) {
  const none = { before: [], add: async () => undefined };
  if (file === undefined) return none;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const opened = (await readFile(file, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    const kept = opened.slice(-MOST_LINES);
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

/** The most rows of a result that are printed. */
const MOST_ROWS = 1_000;

/** Runs the queries of a prompt, one at a time. */
async function createRunner({ tables, dialog: { output }, seconds, signal: stop }: PromptOptions) {
  const known = { saved: savedQueries().map(({ name }) => name), commands: promptCommands };
  // The tables that there were after the last query.
  let listed = await tables.list();
  let running: AbortController | undefined;
  const print = (line: string) => void output.write(`${line}\n`);
  const runQuery = async (sql: string, signal: AbortSignal) => {
    const startMs = performance.now();
    const found = await tables.run(sql, { maxRows: MOST_ROWS, seconds, signal, onReading: print });
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
    /** Stops the query that is running; false if none is. */
    stop() {
      running?.abort(new Error('stopped by Ctrl-C'));
      return running !== undefined;
    },
    run,
    /** Runs a command of the prompt; true if it is to end. */
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

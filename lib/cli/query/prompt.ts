import { createInterface } from 'node:readline';
import { StoreError } from '../../store/index.ts';
import type { FirstRows, Tables } from '../../tables/duckdb/open-tables.ts';
import { QueryError } from '../../tables/duckdb/query-error.ts';
import { splitStatements } from '../../tables/duckdb/split-statements.ts';
import { savedQueries } from '../../tables/saved-queries.ts';
import { UsageError } from '../errors/usage-error.ts';
import { counted, type Dialog, exitCodes, number, shown, shownLines } from '../terminal/terminal.ts';
import { textTable } from './as-table.ts';
import { complete } from './completion.ts';
import { hiddenColumns } from './print-result.ts';
import { promptCommands, runPromptCommand } from './prompt-commands.ts';

export type PromptOptions = {
  readonly tables: Tables;
  readonly dialog: Dialog;
  /** Stops each query after so long. */
  readonly seconds?: number | undefined;
  /** Ends the prompt. */
  readonly signal: AbortSignal;
};

/** Reads SQL line by line and prints what it finds, until Ctrl-D. Returns the exit code. */
export async function runPrompt(options: PromptOptions): Promise<number> {
  const { dialog, signal } = options;
  const runner = await createRunner(options);
  const known = { saved: savedQueries().map(({ name }) => name), commands: promptCommands };
  const state = { typed: '', isOver: false };
  const lines = createInterface({
    ...dialog,
    terminal: 'isTTY' in dialog.output && dialog.output.isTTY === true,
    historySize: 1_000,
    removeHistoryDuplicates: true,
    completer: (line: string) => complete(`${state.typed}${line}`, { ...known, tables: runner.listed() }),
  });
  let isClosed = false;
  lines.once('close', () => {
    isClosed = true;
  });
  // Once there are no more lines, what was typed before is still run.
  const ask = () => {
    if (isClosed) return;
    lines.setPrompt(state.typed === '' ? 'sql> ' : '  -> ');
    lines.prompt();
  };
  const end = () => {
    state.isOver = true;
    runner.stop();
    lines.close();
  };
  lines.on('SIGINT', () => {
    if (runner.stop()) return;
    runner.print(state.typed === '' && lines.line === '' ? '\n(Ctrl-D ends)' : '');
    state.typed = '';
    // Drops what is typed in the line, as Ctrl-E and Ctrl-U do.
    for (const name of ['e', 'u']) lines.write(null, { ctrl: true, name });
    ask();
  });
  signal.addEventListener('abort', end, { once: true });
  try {
    runner.print('SQL over what is stored; .help says more');
    ask();
    for await (const line of lines) {
      if (!state.isOver) await take(line, state, runner);
      if (state.isOver) break;
      ask();
    }
  } finally {
    signal.removeEventListener('abort', end);
    lines.close();
  }
  return signal.aborted ? exitCodes.failed : exitCodes.done;
}

type PromptState = {
  /** The lines of a statement that has not ended yet. */
  typed: string;
  isOver: boolean;
};

type Runner = Awaited<ReturnType<typeof createRunner>>;

/** Does what a line asks for; it may be a part of a statement, or several. */
async function take(line: string, state: PromptState, runner: Runner): Promise<void> {
  if (state.typed === '' && line.trimStart().startsWith('.')) {
    state.isOver = await takeCommand(line, runner);
    return;
  }
  const { ended, rest, hasRest } = splitStatements(`${state.typed}${line}\n`);
  state.typed = hasRest ? rest : '';
  for (const sql of ended) if (!state.isOver) await runner.run(sql);
}

/** Runs a command of the prompt; true if it is to end. */
async function takeCommand(line: string, runner: Runner): Promise<boolean> {
  try {
    return await runPromptCommand(line, { ...runner, print: (text) => runner.print(shown(text)) });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    runner.print(shown(error.message));
    return false;
  }
}

/** The most rows of a result that are printed. */
const MOST_ROWS = 1_000;

/** Runs the queries of a prompt, one at a time. */
async function createRunner({ tables, dialog: { output }, seconds }: PromptOptions) {
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
  return {
    print,
    /** The tables that there were after the last query. */
    listed: () => listed,
    /** Stops the query that is running; false if none is. */
    stop() {
      running?.abort(new Error('stopped by Ctrl-C'));
      return running !== undefined;
    },
    /** Runs a query and prints its rows, or why it has none. */
    async run(sql: string): Promise<void> {
      running = new AbortController();
      const { signal } = running;
      try {
        await runQuery(sql, signal);
      } catch (error) {
        if (signal.aborted) print('stopped');
        else if (error instanceof QueryError || error instanceof StoreError) print(shownLines(error.message));
        else throw error;
      } finally {
        running = undefined;
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

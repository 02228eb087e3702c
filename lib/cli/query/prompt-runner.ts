import { StoreError } from '../../store/index.ts';
import type { FirstRows, TableInfo, Tables } from '../../tables/duckdb/open-tables.ts';
import { QueryError } from '../../tables/duckdb/query-error.ts';
import { type Dialog, shown, shownLines } from '../terminal/terminal.ts';
import { counted, number } from '../terminal/words.ts';
import { textTable } from './as-table.ts';
import { hiddenColumns } from './print-result.ts';

export type RunnerOptions = {
  readonly tables: Tables;
  readonly dialog: Dialog;
  /** Stops each query after so long. */
  readonly seconds?: number | undefined;
};

/** Runs the queries of a prompt, one at a time. */
export type Runner = {
  /** Runs a query and prints its rows, or why it has none. */
  readonly run: (sql: string) => Promise<void>;
  /** Stops the query that is running; false if none is. */
  readonly stop: () => boolean;
  readonly print: (line: string) => void;
  /** The tables that there were after the last query. */
  readonly listed: () => readonly TableInfo[];
};

/** The most rows of a result that are printed. */
const MOST_ROWS = 1_000;

export async function createRunner({ tables, dialog: { output }, seconds }: RunnerOptions): Promise<Runner> {
  let listed = await tables.list();
  let running: AbortController | undefined;
  const print = (line: string) => void output.write(`${line}\n`);
  return {
    print,
    listed: () => listed,
    stop() {
      running?.abort(new Error('stopped by Ctrl-C'));
      return running !== undefined;
    },
    async run(sql) {
      const stop = new AbortController();
      running = stop;
      const startMs = performance.now();
      try {
        const found = await tables.run(sql, {
          maxRows: MOST_ROWS,
          seconds,
          signal: stop.signal,
          onReading: print,
        });
        const width = 'columns' in output && typeof output.columns === 'number' ? output.columns : undefined;
        for (const line of linesOf(found, width)) print(line);
        print(`${countedRows(found)}, ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
        listed = await tables.list();
      } catch (error) {
        if (stop.signal.aborted) print('stopped');
        else if (error instanceof QueryError || error instanceof StoreError) print(shownLines(error.message));
        else throw error;
      } finally {
        running = undefined;
      }
    },
  };
}

function linesOf({ columns, first, faults, notes }: FirstRows, width: number | undefined): readonly string[] {
  const table = textTable(
    columns.map(({ name }) => name),
    first,
    width,
  );
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

import * as z from 'zod/mini';
import { shortened } from '../../../base/index.ts';
import type { Tables } from '../../../tables/duckdb/open-tables.ts';
import { duckDbSql } from '../../../tables/duckdb-dialect.ts';
import { savedQueries } from '../../../tables/saved-queries.ts';
import { createRoom } from '../pages.ts';
import { defineTool, described, MOST_SECONDS, ToolError, textInput, wholeInput } from '../tool.ts';

const MOST_ROWS = 1_000;
const MOST_SQL = 50_000;

/** `query`: one SELECT over everything that is stored. */
export const query = defineTool({
  title: 'Query with SQL',
  description: `Runs one SELECT (DuckDB's SQL) over the published runs, changes, job results and scores. It can only read these tables: no files, no network, no settings. At most ${MOST_ROWS} rows and ${MOST_SECONDS} seconds; integers beyond 2^53 are texts. Rows are counted in all; faults say what is missing or damaged in the store, and not in the rows. Without sql: lists the tables with their columns, and saved queries to start from.`,
  input: z.strictObject({
    sql: z.optional(textInput(`one SELECT of at most ${MOST_SQL} characters, as text`, MOST_SQL)),
    saved: described(
      z.optional(z.string({ error: 'the name of a saved query' })),
      'a saved query, in place of sql',
    ),
    maxRows: z._default(wholeInput(1, MOST_ROWS), 100),
    seconds: z._default(wholeInput(1, MOST_SECONDS), MOST_SECONDS),
  }),
  async run({ sql: given, saved, ...bounds }, { signal, ...call }) {
    if (given !== undefined && saved !== undefined) throw new ToolError('expected sql or saved, got both');
    const sql = saved === undefined ? given : savedSql(saved);
    const tables = await call.tables();
    return sql === undefined ? await listTables(tables) : await rowsOf(tables, { sql, ...bounds, signal });
  },
});

function savedSql(name: string): string {
  const all = savedQueries();
  const found = all.find((each) => each.name === name);
  if (found !== undefined) return duckDbSql(found.sql);
  const names = all.map((each) => each.name).join(', ');
  throw new ToolError(`saved: expected one of ${names}, got ${JSON.stringify(shortened(name, 100))}`);
}

type Asked = Readonly<Record<'maxRows' | 'seconds', number>> & {
  readonly sql: string;
  readonly signal: AbortSignal;
};

/** Names of columns and faults are part of every result: of more there is no room for rows. */
const MOST_HEAD = 200;
const LONGEST_FAULT = 300;

async function rowsOf(tables: Tables, { sql, ...bounds }: Asked) {
  const rows: (readonly unknown[])[] = [];
  // The columns are known only with the rows: what they cost is taken off in the end.
  const room = createRoom({}, bounds.maxRows);
  const found = await tables.run(sql, {
    ...bounds,
    wants(row) {
      const isWanted = room.takes(row);
      if (isWanted) rows.push(row);
      return isWanted;
    },
  });
  const columns = found.columns.map(({ name, type }) => ({ name, type }));
  const faults = [...found.faults, ...found.notes]
    .slice(0, MOST_HEAD)
    .map((each) => each.slice(0, LONGEST_FAULT));
  const { takes } = createRoom({ rows: found.rows, data: { columns, rows: [] }, faults }, rows.length);
  const fitting = rows.filter(takes).map((row) => [...row]);
  if (fitting.length === 0 && found.rows > 0)
    throw new ToolError(
      `the first row alone is larger than a result: select fewer columns, or parts of long texts (substr), or run: platform-sync query --json '…'`,
    );
  return { rows: found.rows, data: { columns, rows: fitting }, faults, isCut: fitting.length < found.rows };
}

async function listTables(tables: Tables) {
  const { takes } = createRoom({ data: { tables: [], savedQueries: [] }, faults: [] }, 1_000);
  const listed = (await tables.list()).map(({ columns, ...table }) => ({
    ...{ name: table.name, about: table.about },
    columns: columns.map((column) => `${column.name} ${column.type}`).join(', '),
  }));
  const saved = savedQueries().map(({ name, description }) => ({ name, description }));
  const data = { tables: listed.filter(takes), savedQueries: saved.filter(takes) };
  return { data, faults: [], isCut: false };
}

import * as z from 'zod/mini';
import { shortened } from '../../../base/index.ts';
import { savedQueries } from '../../../tables/catalog/index.ts';
import { savedSql, type Tables } from '../../../tables/index.ts';
import { bytesOf, MAX_RESULT_BYTES } from '../answer.ts';
import {
  atInput,
  defineTool,
  described,
  MAX_SECONDS,
  type ToolCall,
  ToolError,
  textInput,
  wholeInput,
} from '../tool.ts';

const MAX_ROWS = 1_000;
const MAX_SQL = 50_000;

/** `query`: runs one SELECT over everything that is stored. */
export const query = defineTool({
  title: 'Query with SQL',
  description: `Runs one SELECT (DuckDB's SQL) over the published runs, changes, job results and scores. It reads only these tables, no files. At most ${MAX_ROWS} rows and ${MAX_SECONDS.reads} seconds; integers beyond 2^53 are strings. rows is the total number of rows; faults lists objects that are missing or damaged, so that their data is not in the result. Without sql: lists the tables with their columns, and saved queries to start from.`,
  input: z.strictObject({
    sql: z.optional(textInput(`one SELECT of at most ${MAX_SQL} characters, as a string`, MAX_SQL)),
    saved: described(
      z.optional(z.string({ error: 'the name of a saved query' })),
      'a saved query, instead of sql',
    ),
    at: atInput,
    maxRows: z._default(wholeInput(1, MAX_ROWS), 100),
    seconds: z._default(wholeInput(1, MAX_SECONDS.reads), MAX_SECONDS.reads),
  }),
  instead: 'read fewer runs, or run: platform-sync query',
  async run({ sql: ownSql, saved, at, ...bounds }, call) {
    if (ownSql !== undefined && saved !== undefined) throw new ToolError('expected sql or saved, got both');
    const sql = saved === undefined ? ownSql : savedSql(saved);
    const tables = await call.tables(at);
    return sql === undefined ? await listTables(tables) : await rowsOf(tables, { sql, ...bounds }, call);
  },
});

async function rowsOf(
  tables: Tables,
  { sql, ...bounds }: Readonly<Record<'maxRows' | 'seconds', number>> & { readonly sql: string },
  { signal, say }: ToolCall,
) {
  let left = MAX_RESULT_BYTES;
  const found = await tables.run(sql, {
    ...bounds,
    signal,
    onReading: say,
    // Memory holds only the rows that fit into one result.
    accepts(row) {
      left -= bytesOf(row);
      return left >= 0;
    },
  });
  const { rows, first, faults, notes } = found;
  const columns = found.columns.map(({ name, type }) => ({ name, type }));
  if (rows > 0 && (first.length === 0 || bytesOf({ columns, first: first[0] }) > MAX_RESULT_BYTES - 3_000))
    throw new ToolError(
      `the first row is already larger than a result can be: select fewer columns, or parts of long texts (substr), or run: platform-sync query --json '…'`,
    );
  return {
    head: { rows },
    data: { columns, rows: first, faults: [...faults, ...notes].map((fault) => shortened(fault, 300)) },
    isCut: first.length < rows,
  };
}

async function listTables(tables: Tables) {
  const listed = (await tables.list()).map(({ name, about, columns }) => ({
    name,
    about,
    columns: columns.map((column) => `${column.name} ${column.type}`).join(', '),
  }));
  const saved = savedQueries().map(({ name, description }) => ({ name, description }));
  return { data: { tables: listed, savedQueries: saved } };
}

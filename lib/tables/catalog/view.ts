import type { Column, TableColumns, TableDefinition } from '../../columns.ts';
import type { ModelTable } from '../../model/index.ts';

/**
 * A table as people see it, here and in Athena. `sql` is written for Trino; it reads tables that begin with
 * `stored_`, and other views.
 */
export type View = Pick<TableDefinition, 'about' | 'guesses'> & {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly sql: string;
  /**
   * The SQL for DuckDB without the model. A query that needs a value of the model fails with `NEEDS_MODEL`,
   * so that other queries need not wait for the model. Absent if everything or nothing comes from the model.
   */
  readonly withoutModel?: string;
};

/** The columns of a table that SQL shows. */
const shownColumns = (columns: TableColumns): Readonly<Record<string, Column>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, column]) =>
      column.about === '' ? [] : [[name.toLowerCase(), column]],
    ),
  );

export function viewOf(name: string, table: TableDefinition): View {
  const { about, guesses = [], from = `FROM stored_${name}` } = table;
  const columns = shownColumns(table.columns);
  const selected = Object.entries(columns).map(([column, { sql = column }]) =>
    sql === column ? column : `${sql} AS ${column}`,
  );
  return { name, about, guesses, columns, sql: `SELECT ${selected.join(', ')} ${from}` };
}

/** A part of the error message of a query that needs the model. */
export const NEEDS_MODEL = 'this query needs the model';

/** The rows of a table of the latest model. Athena may also see the previous model. */
export const latestModel = (table: ModelTable): string =>
  `(SELECT * FROM stored_model_${table} WHERE as_of = (SELECT max(as_of) FROM stored_model_${table}))`;

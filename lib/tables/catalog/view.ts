import type { Column, TableColumns, TableDefinition } from '../../columns.ts';
import type { ModelTable } from '../../model/index.ts';

/**
 * A table as users see it, here and in Athena. `sql`: a query in Trino's SQL, over tables whose names begin with
 * `stored_` and over other views.
 */
export type View = Pick<TableDefinition, 'about' | 'guesses'> & {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly sql: string;
  /**
   * For DuckDB: SQL that works before the model is opened, so that most queries need not wait for it. If a query needs
   * a value of the model, it fails with `NEEDS_MODEL`. Absent if everything or nothing comes from the model.
   */
  readonly withoutModel?: string;
};

/** The columns of a table that users see: those with a description. */
const shownColumns = (columns: TableColumns): Readonly<Record<string, Column>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, column]) =>
      column.about === '' ? [] : [[name.toLowerCase(), column]],
    ),
  );

/** Creates the view that shows a table. */
export function viewOf(name: string, table: TableDefinition): View {
  const { about, guesses = [], from = `FROM stored_${name}` } = table;
  const columns = shownColumns(table.columns);
  const selected = Object.entries(columns).map(([column, { sql = column }]) =>
    sql === column ? column : `${sql} AS ${column}`,
  );
  return { name, about, guesses, columns, sql: `SELECT ${selected.join(', ')} ${from}` };
}

/** The words in the error message of a query that needs the model. */
export const NEEDS_MODEL = 'this query needs the model';

/** SQL for the rows of a model's table. Athena may see two models for a moment, so only the latest is selected. */
export const latestModel = (table: ModelTable): string =>
  `(SELECT * FROM stored_model_${table} WHERE as_of = (SELECT max(as_of) FROM stored_model_${table}))`;

import { athena, sqlType } from './sql-type.ts';

/** A column as Glue has it: its type is Hive's. */
export type Column = { readonly name: string; readonly type: string };

export type View = {
  readonly sql: string;
  /** The database in which the query's names are looked up. */
  readonly schema: string;
  /** What the query answers, in its order. */
  readonly columns: readonly Column[];
};

/** The text by which Athena knows a table of Glue's for a view: JSON of its query and its columns, in base64. */
export function viewText({ sql, schema, columns }: View): string {
  const view = {
    originalSql: sql,
    catalog: 'awsdatacatalog',
    schema,
    columns: columns.map(({ name, type }) => ({ name, type: sqlType(type, athena) })),
  };
  return `/* Presto View: ${Buffer.from(JSON.stringify(view)).toString('base64')} */`;
}

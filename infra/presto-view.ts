import { athena, sqlType } from './sql-type.ts';

/** A column as in Glue: its type is one of Hive's. */
export type Column = { readonly name: string; readonly type: string };

export type View = {
  readonly sql: string;
  /** The database in which the query's names are looked up. */
  readonly schema: string;
  /** What the query returns, in order. */
  readonly columns: readonly Column[];
};

/** The text that makes Athena treat a Glue table as a view: JSON of its query and its columns, in base64. */
export function viewText({ sql, schema, columns }: View): string {
  const view = {
    originalSql: sql,
    catalog: 'awsdatacatalog',
    schema,
    columns: columns.map(({ name, type }) => ({ name, type: sqlType(type, athena) })),
  };
  return `/* Presto View: ${Buffer.from(JSON.stringify(view)).toString('base64')} */`;
}

import type { HiveType } from '../../columns.ts';
import { sources } from '../../snapshot/sources/index.ts';
import { viewsOver } from './tables.ts';
import type { View } from './view.ts';

/** A view as Glue stores it for Athena and Trino. `text`: the encoded SQL, with the database that its tables are in. */
type GlueView = Pick<View, 'name'> & {
  readonly columns: readonly { readonly name: string; readonly type: HiveType }[];
  readonly text: string;
};

/**
 * The views of whole sources, for a Glue database. Narrowed snapshots have no views there, since a stack has at most
 * 500 resources. Source: the form in which Trino's Hive connector stores a view; Athena reads the same form.
 */
export const glueViews = (database: string): readonly GlueView[] =>
  viewsOver(sources).map((view) => ({
    name: view.name,
    columns: columnsOf(view, (type) => type),
    text: `/* Presto View: ${Buffer.from(JSON.stringify(definitionOf(view, database))).toString('base64')} */`,
  }));

/** Converts a type from Hive's notation to Trino's. */
const trinoType = (hive: string): string =>
  hive
    .replaceAll(/\bstring\b/g, 'varchar')
    .replaceAll(/\btimestamp\b/g, 'timestamp(3)')
    .replaceAll(/(\w+):/g, '"$1" ')
    .replaceAll('struct<', 'row(')
    .replaceAll(/\b(array|map)</g, '$1(')
    .replaceAll('>', ')');

const definitionOf = (view: View, database: string) => ({
  originalSql: overGlue(view.sql),
  catalog: 'awsdatacatalog',
  schema: database,
  columns: columnsOf(view, trinoType),
  // Without this, the view would need an owner, and would run with the owner's permissions.
  runAsInvoker: true,
});

const columnsOf = ({ columns }: View, typeOf: (type: HiveType) => string) =>
  Object.entries(columns).map(([name, { type }]) => ({ name, type: typeOf(type.toLowerCase()) }));

/**
 * Converts SQL over stored tables to SQL over Glue tables. In Glue, the tables of latest runs have no partitions, so
 * the day and the run are read from the paths of their files.
 */
const overGlue = (sql: string): string =>
  sql.replaceAll(
    /\bstored_latest_\w+/g,
    (table) => `(SELECT *, ${componentOf('dt')}, ${componentOf('run')} FROM ${table})`,
  );

const componentOf = (name: string) => `regexp_extract("$path", '/${name}=([^/]+)/', 1) AS ${name}`;

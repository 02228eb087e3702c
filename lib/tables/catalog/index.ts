/*
 * What SQL sees, here and in Athena: the tables with their columns, their names in Glue, and the saved queries.
 */

export { glueViews } from './glue-views.ts';
export { macros } from './macros.ts';
export { savedQueries } from './saved-queries.ts';
export { gluePartitionKeys, glueTableOf, otherGlueTableOf, tableNameAmong } from './table-names.ts';
export { type StoredTableName, storedTables, viewsOver } from './tables.ts';
export type { View } from './view.ts';

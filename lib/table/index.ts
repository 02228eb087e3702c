/*
 * Rows in DynamoDB or SQLite behind one interface. An adapter is loaded only when a table is opened, since it is large.
 */

export { networkOf } from './network-disk.ts';
export { type DateSeen, type OnDate, openSqliteFile, openTable } from './open-table.ts';
export type { SqliteFile } from './sqlite-file.ts';
export { type CheckTable, checkedTable, NEW_LEDGER, NEW_LEDGER_RISK, tableCheckOf } from './store-table.ts';
export type { Json, Row, RowKey, StoredRow, Table } from './table.ts';
export { updateRow } from './table.ts';
export { TableError, type TableFailure } from './table-error.ts';

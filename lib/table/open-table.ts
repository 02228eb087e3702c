import type { AwsEnvironment } from '../base/index.ts';
import { sqlitePath } from './default-place.ts';
import type { ClientLimits } from './dynamo-table.ts';
import type { Table } from './table.ts';
import { type OnDate, onDateOf } from './table-dates.ts';

/** A table, and the dates of its responses where it has a clock of its own. */
export type OpenedTable = { readonly table: Table; readonly onDate?: OnDate };

/** Limits are those of requests to DynamoDB. */
type OpenTableOptions = ClientLimits & { readonly leases?: readonly string[] };

/**
 * Opens the table that is set: a DynamoDB table, or `sqlite:FILE`, where a killed worker's `leases`, members of rows, end
 * with it. Loads the modules of that kind of table alone.
 */
export async function openTable(
  name: string,
  environment: AwsEnvironment,
  { leases = [], ...limits }: OpenTableOptions = {},
): Promise<OpenedTable> {
  const path = sqlitePath(name);
  if (path !== undefined) {
    const [{ createSqliteTable }, { sqliteFile }] = await Promise.all([
      import('./sqlite-table.ts'),
      import('./sqlite-file.ts'),
    ]);
    return { table: createSqliteTable(sqliteFile(path), { leases }) };
  }
  const { createDynamoClient, createDynamoTable } = await import('./dynamo-table.ts');
  const client = createDynamoClient(environment, limits);
  return { table: createDynamoTable({ tableName: name, environment, client }), onDate: onDateOf(client) };
}

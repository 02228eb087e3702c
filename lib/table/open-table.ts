import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { AwsEnvironment } from '../base/aws/index.ts';
import { sqlitePath } from '../locations.ts';
import type { ClientLimits } from './dynamo-table.ts';
import type { SqliteFile } from './sqlite-file.ts';
import type { Table } from './table.ts';

/**
 * Opens a DynamoDB table, or a file for `sqlite:FILE`. `leases`: the fields of rows that have the end of a lease; in a
 * SQLite file, such a lease also ends with the process that wrote it.
 */
export async function openTable(
  name: string,
  environment: AwsEnvironment,
  { leases = [], ...limits }: ClientLimits & { readonly leases?: readonly string[] } = {},
): Promise<{ readonly table: Table; readonly onDate?: OnDate }> {
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
  const onDate = onDateOf(client);
  return { table: createDynamoTable({ tableName: name, environment, client, onDate }), onDate };
}

/** Opens a SQLite file, which the first write creates. All parts of a process share one connection to it. */
export const openSqliteFile = async (path: string): Promise<SqliteFile> =>
  (await import('./sqlite-file.ts')).sqliteFile(path);

/** A table's response: its `Date`, in whole seconds, and when it was requested and received on this machine's clock. */
export type DateSeen = { readonly dateMs: number; readonly sentMs: number; readonly receivedMs: number };

/**
 * Call this when a request is sent, and the returned function with the `Date` of its response. `sentMs` is corrected if
 * the clock was set back or stopped before the response; otherwise the bounds of the table's time would be too narrow.
 */
export function awaitDate(now: () => number, steady: () => number): (dateMs: number) => DateSeen {
  const sentMs = now();
  const beganMs = steady();
  return (dateMs) => {
    const receivedMs = now();
    return { dateMs, sentMs: Math.min(sentMs, receivedMs - Math.floor(steady() - beganMs)), receivedMs };
  };
}

/** Calls the listener with the `Date` of each response from now on, except those with an `Age`. */
export type OnDate = (listener: (seen: DateSeen) => void) => void;

/** Creates an `OnDate` for a client. The times of requests and responses are by `now`. */
export function onDateOf({ config }: DynamoDBClient, now: () => number = Date.now): OnDate {
  const listeners: ((seen: DateSeen) => void)[] = [];
  const { requestHandler } = config;
  const handle = requestHandler.handle.bind(requestHandler);
  // Wraps only the exchange itself, so that the date of an error response is read too.
  requestHandler.handle = async (...given) => {
    const received = awaitDate(now, () => performance.now());
    const handled = await handle(...given);
    const { date = '', age } = handled.response.headers;
    const seen = received(Date.parse(date));
    if (age === undefined && !Number.isNaN(seen.dateMs)) for (const listener of listeners) listener(seen);
    return handled;
  };
  return (listener) => void listeners.push(listener);
}

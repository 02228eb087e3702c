import { createTableClock, reportDates } from '../pace/table-clock.ts';
import type { Environment } from '../settings.ts';
import type { Table } from '../table/table.ts';
import { sleep } from '../time/sleep.ts';

export type TimedTable = {
  readonly table: Table;
  /** Epoch milliseconds by the table's responses, and by the clock here before the first of them. */
  readonly now: () => number;
  readonly isTimeKnown: () => boolean;
};

/**
 * A table in DynamoDB, and its time: leases are compared by processes whose own clocks may be minutes apart. Loads the
 * SDK.
 */
export async function openTimedTable(tableName: string, environment: Environment): Promise<TimedTable> {
  const [{ createDynamoTable }, { createDynamoClient }] = await Promise.all([
    import('../table/dynamo-table.ts'),
    import('../table/dynamo-client.ts'),
  ]);
  const client = createDynamoClient(environment);
  const clock = createTableClock({ now: Date.now, steady: () => performance.now(), sleep });
  reportDates(client, { now: Date.now, listener: clock.saw });
  return {
    table: createDynamoTable({ tableName, environment, client }),
    now: clock.now,
    isTimeKnown: () => clock.uncertaintyMs() < Number.POSITIVE_INFINITY,
  };
}

import { randomUUID } from 'node:crypto';
import { createTableClock } from '../pace/table-clock.ts';
import type { Session } from '../session.ts';
import type { Store } from '../store/store.ts';
import { createMemoryTable } from '../table/memory-table.ts';
import type { Table } from '../table/table.ts';
import { sleep } from '../time/sleep.ts';
import { createLedger } from './ledger/create-ledger.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { BatchStorage } from './texts/batch/batch.ts';
import { createScoreCache, type ScoreCache } from './texts/cache/score-cache.ts';

/** What jobs share: the store, the table, and what is built on them. */
export type JobStorage = {
  readonly store: Store;
  readonly table: Table;
  readonly ledger: Ledger;
  readonly cache: ScoreCache;
  readonly batches: BatchStorage;
  /** The platform's host. */
  readonly host: string;
};

/** Opens what jobs share, as the settings say: a table in DynamoDB, or in memory if none is set. */
export async function openJobStorage(session: Session): Promise<JobStorage> {
  const { SYNC_TABLE: tableName, PLATFORM_BASE_URL, PLATFORM_TIMEOUT_MS: attemptMs } = session.settings;
  const store = await session.store();
  const { table, now, isTimeKnown } =
    tableName === undefined
      ? { table: createMemoryTable(), now: Date.now, isTimeKnown: () => true }
      : await openTable(tableName, session);
  const { host } = new URL(PLATFORM_BASE_URL);
  const ours = { owner: randomUUID(), now, newToken: randomUUID };
  return {
    store,
    table,
    ledger: createLedger({ table, now, isTimeKnown }),
    cache: createScoreCache({ table, host, attemptMs, ...ours }),
    batches: { store, table, newToken: randomUUID, now },
    host,
  };
}

/**
 * The table, and the time by its responses: leases are compared by workers whose own clocks may be minutes apart.
 * Loads the SDK only if there is a table.
 */
async function openTable(tableName: string, { environment }: Session) {
  const [{ createDynamoTable }, { createDynamoClient }, { reportDates, withDates }] = await Promise.all([
    import('../table/dynamo-table.ts'),
    import('../table/dynamo-client.ts'),
    import('../pace/table-dates.ts'),
  ]);
  const client = withDates(createDynamoClient(environment));
  const clock = createTableClock({ now: Date.now, steady: () => performance.now(), sleep });
  reportDates(client, { now: Date.now, listener: clock.saw });
  return {
    table: createDynamoTable({ tableName, environment, client }),
    now: clock.now,
    isTimeKnown: () => clock.uncertaintyMs() < Number.POSITIVE_INFINITY,
  };
}

import { randomUUID } from 'node:crypto';
import type { Session } from '../session.ts';
import { needed } from '../settings.ts';
import type { Store } from '../store/index.ts';
import type { Table } from '../table/index.ts';
import type { Ledger } from './ledger/ledger.ts';
import { createLedger } from './ledger/ledger.ts';
import type { BatchStorage } from './texts/batch/batch.ts';
import { createScoreCache, type ScoreCache } from './texts/cache/score-cache.ts';
import { openTimedTable } from './timed-table.ts';

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

/** Opens what jobs share, as the settings say. Throws `SettingsError` if there is no table. */
export async function openJobStorage(session: Session): Promise<JobStorage> {
  const { PLATFORM_BASE_URL, PLATFORM_TIMEOUT_MS: attemptMs } = session.settings;
  const tableName = needed(session.settings, 'SYNC_TABLE');
  const store = await session.store();
  const { table, now, isTimeKnown } = await openTimedTable(
    tableName,
    session.environment,
    session.checkTable,
  );
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

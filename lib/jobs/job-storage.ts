import { randomUUID } from 'node:crypto';
import { sleep } from '../base/index.ts';
import { createTableClock } from '../pace/index.ts';
import type { Session } from '../session.ts';
import { type Environment, needed, readSyncSettings } from '../settings.ts';
import type { Store } from '../store/index.ts';
import { type CheckTable, checkedTable, openTable, type Table, tableCheckOf } from '../table/index.ts';
import type { JobRow } from './ledger/job-row.ts';
import { createLedger, type Ledger } from './ledger/ledger.ts';
import { createLedgerCheck } from './ledger-check.ts';
import type { BatchStorage } from './texts/batch/batch.ts';
import { createScoreCache, type parseCacheRow, type ScoreCache } from './texts/cache/score-cache.ts';

/** The store and the table that all jobs share, and what jobs keep in them. */
export type JobStorage = {
  readonly store: Store;
  readonly table: Table;
  readonly ledger: Ledger;
  readonly cache: ScoreCache;
  readonly batches: BatchStorage;
  readonly host: string;
  /** Throws unless the table belongs to the store, and knows all jobs that have ended. Called before a job is sent. */
  readonly checkTable: CheckTable;
};

/** Opens the storage that jobs share, as configured. Throws `SettingsError` without a table. */
export async function openJobStorage(
  session: Pick<Session, 'environment' | 'settings' | 'store' | 'checkTable'>,
): Promise<JobStorage> {
  const { PLATFORM_BASE_URL, PLATFORM_TIMEOUT_MS: attemptMs } = session.settings;
  const tableName = needed(session.settings, 'SYNC_TABLE');
  const store = await session.store();
  const checkTable = createLedgerCheck(tableName, session.environment, session);
  const { table, ...time } = await openTimedTable(tableName, session.environment, checkTable);
  const { host } = new URL(PLATFORM_BASE_URL);
  const ledger = createLedger({ table, ...time });
  const { now } = time;
  const ours = { owner: randomUUID(), now, setTime: ledger.setTime, newToken: randomUUID };
  return {
    store,
    table,
    ledger,
    cache: createScoreCache({ table, host, attemptMs, ...ours }),
    batches: { store, table, newToken: randomUUID, now },
    host,
    checkTable,
  };
}

/**
 * Opens the ledger, and the batches of texts, in the configured table, without the platform. Throws
 * `SettingsError` if no table is set.
 */
export async function openJobState(environment: Environment, store: Store) {
  const tableName = needed(readSyncSettings(environment), 'SYNC_TABLE');
  const timed = await openTimedTable(tableName, environment);
  return { ledger: createLedger(timed), batches: { store, newToken: randomUUID, ...timed } };
}

/** The fields of rows that say when the lease of a job, or of a text, ends. */
export const LEASES = ['leaseUntilMs', 'leaseEndsMs'] as const satisfies readonly (
  | keyof JobRow
  | keyof ReturnType<typeof parseCacheRow>
)[];

/**
 * The table's time is known if its uncertainty is at most this, in milliseconds. A response may take that long, and
 * when a lease is renewed, the lease has far more time left than this.
 */
const MAX_UNCERTAINTY_MS = 8_000;

/**
 * Opens the configured table, with the table's clock, since the clocks of machines may be minutes apart. The table
 * stores nothing unless `check` passes.
 */
export async function openTimedTable(
  tableName: string,
  environment: Environment,
  check: CheckTable = tableCheckOf(tableName, environment),
): Promise<{
  readonly table: Table;
  /** Epoch milliseconds by the table's responses; by the clock here before the first response. */
  readonly now: () => number;
  readonly isTimeKnown: () => boolean;
  /** Whether a response has shown the table's time yet. */
  readonly hasDates: () => boolean;
}> {
  const { table, onDate } = await openTable(tableName, environment, { leases: LEASES });
  const timed = checkedTable(table, check);
  if (onDate === undefined)
    return { table: timed, now: Date.now, isTimeKnown: () => true, hasDates: () => false };
  const clock = createTableClock({ now: Date.now, steady: () => performance.now(), sleep });
  onDate(clock.saw);
  return {
    table: timed,
    now: clock.now,
    isTimeKnown: () => clock.uncertaintyMs() <= MAX_UNCERTAINTY_MS,
    hasDates: clock.hasDates,
  };
}

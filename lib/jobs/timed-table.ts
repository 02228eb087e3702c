import { sleep } from '../base/index.ts';
import { createTableClock } from '../pace/table-clock.ts';
import type { Environment } from '../settings.ts';
import { type CheckTable, checkedTable, openTable, type Table, tableCheckOf } from '../table/index.ts';
import type { JobRow } from './ledger/job-row.ts';
import type { CacheRow } from './texts/cache/cache-row.ts';

/** The members of rows that say until when their writer holds them: of a job, and of a text. */
export const LEASES = ['leaseUntilMs', 'leaseEndsMs'] as const satisfies readonly (
  | keyof JobRow
  | keyof CacheRow
)[];

export type TimedTable = {
  readonly table: Table;
  /** Epoch milliseconds by the table's responses, and by the clock here before the first of them. */
  readonly now: () => number;
  readonly isTimeKnown: () => boolean;
};

/**
 * The table that is set, and its time. Leases in DynamoDB are compared by processes whose own clocks may be minutes
 * apart; those that share a file share a clock. Stores nothing unless the store names this table.
 */
export async function openTimedTable(
  tableName: string,
  environment: Environment,
  check: CheckTable = tableCheckOf(tableName, environment),
): Promise<TimedTable> {
  const { table, onDate } = await openTable(tableName, environment, { leases: LEASES });
  const timed = checkedTable(table, check);
  if (onDate === undefined) return { table: timed, now: Date.now, isTimeKnown: () => true };
  const clock = createTableClock({ now: Date.now, steady: () => performance.now(), sleep });
  onDate(clock.saw);
  return {
    table: timed,
    now: clock.now,
    isTimeKnown: () => clock.uncertaintyMs() < Number.POSITIVE_INFINITY,
  };
}

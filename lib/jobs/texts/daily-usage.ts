import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { type StoredRow, type Table, updateRow } from '../../table/index.ts';

const rowSchema = z.object({ calls: z.number(), tokens: z.number() });

/** The number of calls that scored a text, and their tokens. */
export type DailyUsage = Readonly<z.infer<typeof rowSchema>>;

const NOTHING: DailyUsage = { calls: 0, tokens: 0 };

/** How long after its start a day's row expires, in milliseconds: the day is over by then. */
const LIFETIME_MS = 2 * 86_400_000;

/**
 * Creates a counter of the texts that all processes score in a day (UTC), in one row of the table. It returns the
 * sums of the day after adding, or undefined if there is nothing to add. If a write fails, the next one also adds
 * its counts.
 */
export function createDailyUsageCounter(table: Table, now: () => number) {
  let pending = NOTHING;
  return async (scored: DailyUsage): Promise<DailyUsage | undefined> => {
    pending = sum(pending, scored);
    if (pending.calls === 0 && pending.tokens === 0) return undefined;
    const key = { partition: `scored#${new Date(now()).toISOString().slice(0, 10)}`, sort: '-' };
    const add = (found: StoredRow | undefined) => sum(pending, rowSchema.parse(found?.row ?? NOTHING));
    const day = await updateRow(table, key, add, { newToken: randomUUID, lifetimeMs: LIFETIME_MS });
    pending = NOTHING;
    return day;
  };
}

const sum = (one: DailyUsage, other: DailyUsage): DailyUsage => ({
  calls: one.calls + other.calls,
  tokens: one.tokens + other.tokens,
});

import { isAmbiguous, isConditionFailed } from './dynamo-failure.ts';
import type { StoredRow, WriteResult } from './table.ts';

export type SettleWriteOptions = {
  /** Makes the write, and reports each failed attempt; it may be repeated, since it is conditional. */
  readonly write: (onFailed: (error: unknown) => void) => Promise<unknown>;
  readonly read: () => Promise<StoredRow | undefined>;
  /** The row that a failed condition came back with; undefined if it came back without one, and the row is read. */
  readonly rowOf: (conditionFailed: unknown) => StoredRow | undefined;
  /** Whether the row shows that the write was made. */
  readonly isMade: (current: StoredRow | undefined) => boolean;
  readonly expected: string | null;
  readonly sleep: (ms: number) => Promise<unknown>;
};

/**
 * Makes a write and finds out what happened to it. A failed condition may be due to the write itself, made by an
 * attempt whose response was lost: the row, which comes with that failure, shows it. After an ambiguous failure of any attempt the row shows it too,
 * unless the row is still as it was before the write: then the write is repeated, three times in all, and the last
 * error is thrown. If every attempt was refused or throttled, the write was not made: the error is thrown immediately.
 */
export async function settleWrite(options: SettleWriteOptions): Promise<WriteResult> {
  for (let round = 1; ; round += 1) {
    const result = await tryWrite(options);
    if (result.kind !== 'unknown') return result;
    if (round === ROUNDS) throw result.error;
    await options.sleep(PAUSE_MS * round);
  }
}

const ROUNDS = 3;
const PAUSE_MS = 100;

type Tried = WriteResult | { readonly kind: 'unknown'; readonly error: unknown };

async function tryWrite({ write, read, rowOf, isMade, expected }: SettleWriteOptions): Promise<Tried> {
  const failures: unknown[] = [];
  try {
    await write((failure) => failures.push(failure));
    return { kind: 'stored' };
  } catch (error) {
    const conditionFailed = isConditionFailed(error);
    if (!conditionFailed && ![...failures, error].some(isAmbiguous)) throw error;
    const returned = conditionFailed ? rowOf(error) : undefined;
    const seen = returned === undefined ? await attempt(read) : { current: returned };
    if ('error' in seen) return { kind: 'unknown', error: conditionFailed ? seen.error : error };
    if (isMade(seen.current)) return { kind: 'stored' };
    // A replaced token never returns: the write can no longer be made.
    const isAsBefore = (seen.current?.token ?? null) === expected;
    return isAsBefore && !conditionFailed
      ? { kind: 'unknown', error }
      : { kind: 'other', current: seen.current };
  }
}

async function attempt(read: () => Promise<StoredRow | undefined>) {
  try {
    return { current: await read() };
  } catch (error) {
    return { error };
  }
}

import { isAmbiguous, isConditionFailed } from './dynamo-failure.ts';
import type { StoredRow, WriteResult } from './table.ts';

export type SettleWriteOptions = {
  /** Makes the write; it may be made again, since it is conditional. */
  readonly write: () => Promise<unknown>;
  readonly read: () => Promise<StoredRow | undefined>;
  /** Tells from the row that the write was made. */
  readonly isMade: (current: StoredRow | undefined) => boolean;
  readonly expected: string | null;
  readonly sleep: (ms: number) => Promise<unknown>;
};

/**
 * Makes a write and finds out what became of it. A condition that failed may be due to the write itself, made by a
 * request whose answer was lost: the row tells. After an ambiguous failure the row tells too, unless it is still as
 * it was before the write: then it is written again, three times in all, and the last error is thrown.
 */
export const settleWrite = async (options: SettleWriteOptions): Promise<WriteResult> => {
  for (let round = 1; ; round += 1) {
    const result = await tryWrite(options);
    if (result.kind !== 'unknown') return result;
    if (round === rounds) throw result.error;
    await options.sleep(pauseMs * round);
  }
};

const rounds = 3;
const pauseMs = 100;

type Tried = WriteResult | { readonly kind: 'unknown'; readonly error: unknown };

const tryWrite = async ({ write, read, isMade, expected }: SettleWriteOptions): Promise<Tried> => {
  try {
    await write();
    return { kind: 'stored' };
  } catch (error) {
    const conditionFailed = isConditionFailed(error);
    if (!conditionFailed && !isAmbiguous(error)) throw error;
    const seen = await attempt(read);
    if ('error' in seen) return { kind: 'unknown', error: conditionFailed ? seen.error : error };
    if (isMade(seen.current)) return { kind: 'stored' };
    // A token that was replaced never comes back: the write can no longer be made.
    const isAsBefore = (seen.current?.token ?? null) === expected;
    return isAsBefore && !conditionFailed
      ? { kind: 'unknown', error }
      : { kind: 'other', current: seen.current };
  }
};

const attempt = async (read: () => Promise<StoredRow | undefined>) => {
  try {
    return { current: await read() };
  } catch (error) {
    return { error };
  }
};

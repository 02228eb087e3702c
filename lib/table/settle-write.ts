import { isAmbiguous, isConditionFailed } from './dynamo-failure.ts';
import type { StoredRow, WriteResult } from './table.ts';

export type SettleWriteOptions = {
  /** Makes the write; it may be repeated, since it is conditional. */
  readonly write: () => Promise<unknown>;
  readonly read: () => Promise<StoredRow | undefined>;
  /** The row that a failed condition came back with; undefined if it came back without one, and the row is read. */
  readonly rowOf: (conditionFailed: unknown) => StoredRow | undefined;
  /** Whether the row shows that the write was made. */
  readonly isMade: (current: StoredRow | undefined) => boolean;
  readonly expected: string | null;
  readonly sleep: (ms: number) => Promise<unknown>;
};

const ROUNDS = 3;
const PAUSE_MS = 100;

/**
 * Makes a write and finds out what happened to it. A failed condition may be due to the write itself, made by an
 * attempt whose response was lost: the row, which comes with that failure, shows it. After an ambiguous failure the row
 * shows it too, unless it is still as it was before the write: then the write is repeated, three times in all, and the
 * last error is thrown. A write that was refused is thrown immediately.
 */
export async function settleWrite(options: SettleWriteOptions): Promise<WriteResult> {
  const { write, read, rowOf, isMade, expected, sleep } = options;
  for (let round = 1; ; round += 1) {
    try {
      await write();
      return { kind: 'stored' };
    } catch (error) {
      const isRefused = isConditionFailed(error);
      if (!isRefused && !isAmbiguous(error)) throw error;
      const seen = await rowAfter(isRefused ? rowOf(error) : undefined, read);
      if (seen.kind === 'read') {
        if (isMade(seen.current)) return { kind: 'stored' };
        // A replaced token never returns: the write can no longer be made.
        if (isRefused || (seen.current?.token ?? null) !== expected)
          return { kind: 'other', current: seen.current };
      }
      if (round === ROUNDS) throw isRefused && seen.kind === 'unread' ? seen.error : error;
    }
    await sleep(PAUSE_MS * round);
  }
}

async function rowAfter(returned: StoredRow | undefined, read: SettleWriteOptions['read']) {
  try {
    return { kind: 'read', current: returned ?? (await read()) } as const;
  } catch (error) {
    return { kind: 'unread', error } as const;
  }
}

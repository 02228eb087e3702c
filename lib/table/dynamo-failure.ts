import { kindOfFault, readAwsFault, UNSENT_CODES } from '../base/index.ts';
import type { StoredRow, WriteResult } from './table.ts';
import { TableError, type TableFailure } from './table-error.ts';

const isConditionFailed = (error: unknown): boolean =>
  readAwsFault(error).code === 'ConditionalCheckFailedException';

/** A connection broke, the service failed, or that may have happened to an attempt before the last one. */
function isAmbiguous(failure: unknown): boolean {
  const { code, status, attempts } = readAwsFault(failure);
  if (UNSENT_CODES.includes(code)) return false;
  return attempts > 1 || status === undefined || status < 400 || status >= 500;
}

export async function explaining<T>(table: string, tried: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asTableError(table, tried, error);
  }
}

export const asTableError = (table: string, tried: string, error: unknown): TableError =>
  error instanceof TableError ? error : new TableError(tried, failureOf(table, error), { cause: error });

const EXPECTED = 'an ACTIVE table with the strings pk and sk as its keys';

function failureOf(table: string, error: unknown): TableFailure {
  const fault = readAwsFault(error);
  const { code, status, missing } = fault;
  if (missing !== undefined) return { kind: 'unconfigured', code, expected: missing };
  if (code === 'ResourceNotFoundException')
    return { kind: 'bad-table', table, expected: EXPECTED, got: 'none' };
  // Keys and rows are checked before they are sent: nothing else in our requests is invalid.
  if (code === 'ValidationException')
    return { kind: 'bad-table', table, expected: EXPECTED, got: 'one that refuses them' };
  const kind = kindOfFault(fault);
  if (kind !== 'other' && kind !== 'missing') return { kind, code };
  return { kind: 'other', code: status === undefined ? code : `${status} ${code}` };
}

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
 * A failed condition may be due to the write itself, made by an attempt whose response was lost: the row shows it.
 * After an ambiguous failure the row shows it too, unless it is as it was before: then the write is repeated, three
 * times in all, and the last error is thrown. A write that was refused is thrown immediately.
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

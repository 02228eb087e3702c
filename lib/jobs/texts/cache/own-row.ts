import type { RowKey, StoredRow } from '../../../table/index.ts';
import {
  type CacheRow,
  parseCacheRow,
  type RowWriting,
  textHashOf,
  type Written,
  writeCacheRow,
} from './cache-row.ts';

export type ClaimOptions = RowWriting & {
  /** Who holds the claims, for people to read: a request id or a process. */
  readonly owner: string;
  /**
   * How long one attempt may take, in milliseconds: the platform's time limit. A claim keeps others away for longer than
   * that, and each send renews it.
   */
  readonly attemptMs: number;
  /** How much longer than that a claim lasts. Default: 30 s. */
  readonly spareMs?: number | undefined;
};

/** A text, and its row as it was last seen: `stored` is undefined if it has none. */
export type Seen = {
  readonly key: RowKey;
  readonly text: string;
  /** The job that will count the sends. */
  readonly payer: string | undefined;
  readonly stored: StoredRow | undefined;
};

/** For writing the claim, waiting for the slot, and storing the result. */
const SPARE_MS = 30_000;

/** The row of a text as one claim writes it, and whether it is the claim's. */
export function createOwnRow(seen: Seen, options: ClaimOptions) {
  const { key } = seen;
  const { table, now, attemptMs, spareMs = SPARE_MS } = options;
  const leaseMs = attemptMs + spareMs;
  let row = openRow(seen, options);
  let token = seen.stored?.token ?? null;
  /** Whether the row is this claim's: held, or freed by it. A write that threw leaves that unknown. */
  let isOwn: boolean | undefined = false;
  // A write that threw may have been made all the same: then the row has its token.
  const tokens = new Set<string>();
  const writing = { ...options, newToken: () => recorded(options.newToken(), tokens) };
  const write = async (changes: Partial<CacheRow>): Promise<Written> => {
    const next = { ...row, leaseEndsMs: now() + leaseMs, ...changes };
    isOwn = undefined;
    let written = await writeCacheRow({ key, row: next, expected: token }, writing);
    const expected = written.kind === 'other' ? (written.current?.token ?? null) : null;
    if (expected !== null && tokens.has(expected))
      written = await writeCacheRow({ key, row: next, expected }, writing);
    isOwn = written.kind === 'stored';
    if (written.kind === 'stored') [row, token] = [next, written.token];
    return written;
  };
  return {
    writing,
    current: () => row,
    isOwn: () => isOwn === true,
    /** Whether the claim outlasts an attempt that starts now. */
    isHeld: () => isOwn === true && now() + attemptMs <= row.leaseEndsMs,
    mine: (): Mine => ({ row, token, tokens }),
    write,
    /** Frees the row, with so many sends; without any, it is deleted. */
    async free(sends: number) {
      if (sends > 0) return void (await write({ state: 'FREE', sends }));
      if (token !== null) await table.delete(key, token);
      [row, token] = [{ ...row, state: 'FREE', sends }, null];
    },
    /** Goes on from what another writer stored, and returns it. */
    adopt(stored: StoredRow | undefined): CacheRow | undefined {
      token = stored?.token ?? null;
      if (stored !== undefined) row = openRow({ ...seen, stored }, options);
      return stored && parseCacheRow(stored);
    },
    /** Finds out what happened to a write that threw. If it was made, what it announced did not happen. */
    async settle() {
      if (isOwn !== undefined) return;
      const stored = await table.get(key);
      isOwn = false;
      if (stored === undefined || !tokens.has(stored.token)) return;
      [isOwn, row, token] = [true, { ...row, state: 'SENT' }, stored.token];
    },
  };
}

/** The row as this worker will write it when it takes the text, apart from state and lease. */
function openRow({ text, payer, stored }: Seen, { owner }: ClaimOptions): CacheRow {
  const sends = stored === undefined ? 0 : parseCacheRow(stored).sends;
  const ours = { textHash: textHashOf(text), owner, ...(payer === undefined ? {} : { payer }) };
  return { state: 'FREE', ...ours, leaseEndsMs: 0, sends, paidAgain: 0 };
}

function recorded(token: string, tokens: Set<string>): string {
  tokens.add(token);
  return token;
}

/** What is known of a row when a result is to be stored in it. */
export type Mine = {
  readonly row: CacheRow;
  readonly token: string | null;
  readonly tokens: ReadonlySet<string>;
};

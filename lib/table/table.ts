/** Names one row. Rows of one partition are listed together, in the order of `sort`. */
export type RowKey = { readonly partition: string; readonly sort: string };

/** Plain JSON: no undefined, no bigint. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

/** The content of a row; undefined members are left out. Rows are small: DynamoDB accepts 400 KB. */
export type Row = { readonly [name: string]: Json | undefined };

/** The current row, and the token of the write that stored it. */
export type StoredRow = { readonly row: Row; readonly token: string };

type WriteOptions = {
  /** The token of the row to be replaced; null if no row may exist. */
  readonly expected: string | null;
  /** Unique to this write: a writer whose response was lost finds its own token in the row. */
  readonly token: string;
  /**
   * The minimum time that DynamoDB keeps the row, by its own clock; SQLite keeps it until it is deleted. Default:
   * forever.
   */
  readonly lifetimeMs?: number;
  /** Whether the space that a file reserves for a full disk may be used: for what was paid for. Default: false. */
  readonly mayUseReserve?: boolean | undefined;
};

/** `stored`, or the row that is there instead: another write was first, and was left alone. */
export type WriteResult =
  | { readonly kind: 'stored' }
  | { readonly kind: 'other'; readonly current: StoredRow | undefined };

/**
 * Rows that many processes share: DynamoDB, or SQLite for those of one machine. Every change to a row is one conditional write,
 * against the token of the write before it. Reads see every write that got a response. Failures are thrown as
 * `TableError`; a write that throws may have been made all the same: its token shows whether it was.
 */
export type Table = {
  get(key: RowKey): Promise<StoredRow | undefined>;
  /** The rows of at most 100 different keys, in their order, by one request: each is read as by `get`, not all at one moment. */
  getAll(keys: readonly RowKey[]): Promise<readonly (StoredRow | undefined)[]>;
  put(key: RowKey, row: Row, options: WriteOptions): Promise<WriteResult>;
  /** Deletes the row if its token is still `expected`; a row that is gone is `stored`. */
  delete(key: RowKey, expected: string): Promise<WriteResult>;
  /** All rows of a partition, ordered by the UTF-8 bytes of `sort`. */
  list(partition: string): AsyncGenerator<{ readonly key: RowKey } & StoredRow>;
  /** All rows whose partition starts with `prefix`, in no particular order. Reads the whole table: not for workers. */
  scan(prefix: string): AsyncGenerator<{ readonly key: RowKey } & StoredRow>;
};

/**
 * Replaces a row by what `decide` makes of it, if it still is as `decide` got it; else asks again, of the row that is
 * there instead. `decide` returns undefined to leave it alone. Returns the row that was stored, if one was.
 */
export async function updateRow<R extends Row>(
  table: Pick<Table, 'get' | 'put'>,
  key: RowKey,
  decide: (found: StoredRow | undefined) => R | undefined,
  /** Options of each write. `newToken`: returns a new name at each call, such as a UUID. */
  { newToken, ...lifetime }: Pick<WriteOptions, 'lifetimeMs'> & { readonly newToken: () => string },
): Promise<R | undefined> {
  for (let found = await table.get(key); ; ) {
    const row = decide(found);
    if (row === undefined) return undefined;
    const put = await table.put(key, row, { expected: found?.token ?? null, token: newToken(), ...lifetime });
    if (put.kind === 'stored') return row;
    found = put.current;
  }
}

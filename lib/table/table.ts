/** The key of a row. Rows of one partition are listed together, in the order of `sort`. */
export type RowKey = { readonly partition: string; readonly sort: string };

/** A JSON value without undefined and bigint. */
export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [name: string]: Json | undefined };

/** The content of a row, at most 400 KB as in DynamoDB. Undefined fields are not stored. */
export type Row = { readonly [name: string]: Json | undefined };

/** The current row, and the token of the write that stored it. */
export type StoredRow = { readonly row: Row; readonly token: string };

type WriteOptions = {
  /** The token of the row to be replaced; null if the row must not exist yet. */
  readonly expected: string | null;
  /** A unique name for this write, with which a writer whose response was lost recognizes its own row. */
  readonly token: string;
  /**
   * Minimum time that DynamoDB keeps the row, by its own clock. SQLite keeps it until it is deleted. Default: forever.
   */
  readonly lifetimeMs?: number;
  /**
   * Whether this write may use the space that a SQLite file reserves for a full disk: for results that were paid for.
   * Default: false.
   */
  readonly mayUseReserve?: boolean | undefined;
  /**
   * Whether this write fails, as on a full disk, unless that space is reserved: for writes before a paid request.
   * Default: false.
   */
  readonly needsReserve?: boolean | undefined;
};

/** `stored`; or `other`, with the current row, if another write came first and nothing was changed. */
export type WriteResult =
  | { readonly kind: 'stored' }
  | { readonly kind: 'other'; readonly current: StoredRow | undefined };

/**
 * Rows that many processes share: in DynamoDB, or in SQLite for processes of one machine. Every change to a
 * row is one conditional write, which requires the token of the write before it. Reads see every write that has
 * returned. Failures are thrown as `TableError`. A write that throws may have been stored anyway: the row's token
 * shows whether it was.
 */
export type Table = {
  get(key: RowKey): Promise<StoredRow | undefined>;
  /**
   * The rows of at most 100 different keys, in the order of the keys, by one request. Each read is consistent, but the
   * rows may be read at different moments.
   */
  getAll(keys: readonly RowKey[]): Promise<readonly (StoredRow | undefined)[]>;
  put(key: RowKey, row: Row, options: WriteOptions): Promise<WriteResult>;
  /** Deletes the row if its token is still `expected`. If there is no row, the result is `stored`. */
  delete(key: RowKey, expected: string): Promise<WriteResult>;
  /** Lists all rows of a partition, ordered by the UTF-8 bytes of `sort`. */
  list(partition: string): AsyncGenerator<{ readonly key: RowKey } & StoredRow>;
  /**
   * Lists all rows whose partition starts with `prefix`, in no particular order. It reads the whole table, so
   * workers must not use it.
   */
  scan(prefix: string): AsyncGenerator<{ readonly key: RowKey } & StoredRow>;
};

/**
 * Replaces a row with the result of `decide`, if it has not changed since `decide` saw it; otherwise calls `decide`
 * again with the new row. If `decide` returns undefined, the row stays unchanged. Returns the row that was stored,
 * if any.
 */
export async function updateRow<R extends Row>(
  table: Pick<Table, 'get' | 'put'>,
  key: RowKey,
  decide: (found: StoredRow | undefined) => R | undefined,
  /** Options of each write. `newToken` returns a new name at each call, such as a UUID. */
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

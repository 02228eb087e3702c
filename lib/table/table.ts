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

/** What a row holds; members that are undefined are left out. Small: DynamoDB takes 400 KB. */
export type Row = { readonly [name: string]: Json | undefined };

/** A row as it stands, and the token of the write that made it so. */
export type StoredRow = { readonly row: Row; readonly token: string };

export type WriteOptions = {
  /** The token of the row that is to be replaced; null if there must be none. */
  readonly expected: string | null;
  /** Names this write and no other: a writer whose answer was lost finds its own token in the row. */
  readonly token: string;
  /** When the row may be dropped, in epoch milliseconds. Only tidies up: nothing relies on it. Default: never. */
  readonly expiresAtMs?: number;
};

/** `stored`, or what is there instead: somebody else's write came first and was left alone. */
export type WriteResult =
  | { readonly kind: 'stored' }
  | { readonly kind: 'other'; readonly current: StoredRow | undefined };

/**
 * Rows that many processes share: DynamoDB, or memory for one process. Every change of a row is one conditional
 * write, against the token of the write before it. Reads see every write that has been answered. Failures are thrown as `TableError`;
 * a write that throws may have been made all the same: its token tells.
 */
export type Table = {
  get(key: RowKey): Promise<StoredRow | undefined>;
  put(key: RowKey, row: Row, options: WriteOptions): Promise<WriteResult>;
  /** Deletes the row if its token is still `expected`; a row that is gone is `stored`. */
  delete(key: RowKey, expected: string): Promise<WriteResult>;
  /** All rows of a partition, in the order of `sort`, by the bytes of UTF-8. */
  list(partition: string): AsyncGenerator<{ readonly key: RowKey } & StoredRow>;
  /** All rows whose partition starts with `prefix`, in no order. Reads the whole table: for people, not for workers. */
  scan(prefix: string): AsyncGenerator<{ readonly key: RowKey } & StoredRow>;
};

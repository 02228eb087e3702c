import type { Row, RowKey, StoredRow, Table, WriteOptions } from './table.ts';

/**
 * Replaces a row by what `decide` makes of it, if it still is as `decide` got it; else asks again, of the row that is
 * there instead. `decide` returns undefined to leave it alone. Returns the row that was stored, if one was.
 */
export async function updateRow<R extends Row>(
  table: Pick<Table, 'get' | 'put'>,
  key: RowKey,
  decide: (found: StoredRow | undefined) => R | undefined,
  /** Of each write. `newToken`: a new name at each call, such as a UUID. */
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

import { checkedText, checkKey } from '../../lib/table/check-row.ts';
import type { RowKey, StoredRow, Table } from '../../lib/table/table.ts';

/** A table in the memory of one process. Rows never expire. */
export function createMemoryTable(): Table {
  const rows = new Map<string, Entry>();
  const stored = (key: RowKey): StoredRow | undefined => {
    const entry = rows.get(nameOf(key));
    return entry && open(entry);
  };
  return {
    async get(key) {
      checkKey(`get ${nameOf(key)} in memory`, key);
      return stored(key);
    },
    async getAll(keys) {
      return keys.map((key) => {
        checkKey(`get ${nameOf(key)} in memory`, key);
        return stored(key);
      });
    },
    async put(key, row, { expected, token }) {
      const tried = `put ${nameOf(key)} in memory`;
      checkKey(tried, key);
      const json = checkedText(tried, row);
      const entry = rows.get(nameOf(key));
      if (entry?.token === token) return { kind: 'stored' };
      if ((entry?.token ?? null) !== expected) return { kind: 'other', current: stored(key) };
      rows.set(nameOf(key), { key: { ...key }, json, token });
      return { kind: 'stored' };
    },
    async delete(key, expected) {
      checkKey(`delete ${nameOf(key)} in memory`, key);
      const entry = rows.get(nameOf(key));
      if (entry && entry.token !== expected) return { kind: 'other', current: stored(key) };
      rows.delete(nameOf(key));
      return { kind: 'stored' };
    },
    async *list(partition) {
      checkKey(`list ${partition} in memory`, { partition, sort: '-' });
      const found = [...rows.values()].filter(({ key }) => key.partition === partition);
      yield* found.sort((a, b) => byBytes(a.key.sort, b.key.sort)).map(withKey);
    },
    async *scan(prefix) {
      yield* [...rows.values()].filter(({ key }) => key.partition.startsWith(prefix)).map(withKey);
    },
  };
}

// Stored as text, so that a caller cannot change a row that it stored or got.
type Entry = { readonly key: RowKey; readonly json: string; readonly token: string };

const open = ({ json, token }: Entry): StoredRow => ({ row: JSON.parse(json), token });

const withKey = (entry: Entry) => ({ key: { ...entry.key }, ...open(entry) });

const nameOf = ({ partition, sort }: RowKey): string => JSON.stringify([partition, sort]);

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

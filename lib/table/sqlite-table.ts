import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { parseOwnJson } from '../base/json/index.ts';
import { checkedText, checkKey } from './check-row.ts';
import type { SqliteFile } from './sqlite-file.ts';
import type { Row, RowKey, StoredRow, Table, WriteResult } from './table.ts';

type SqliteTableOptions = {
  /**
   * Fields of rows, in epoch milliseconds, that are read as 0 once the process that wrote the row has ended.
   * Default: no fields.
   */
  readonly leases?: readonly string[];
  readonly now?: () => number;
  /**
   * Milliseconds on a steady clock that all processes on the machine share. Default: the time since the machine
   * started.
   */
  readonly steady?: () => number;
};

const sinceBoot = () => Number(process.hrtime.bigint() / 1_000_000n);

/**
 * Opens the table in a SQLite file. Rows do not expire. The ends of leases are stored as times of the steady clock,
 * so that a change of the machine's date does not end a lease.
 */
export function createSqliteTable(file: SqliteFile, options: SqliteTableOptions = {}): Table {
  const { textOf, rowOf } = createRows(file, options);
  const stored = (found: Found | undefined): StoredRow | undefined =>
    found && { row: rowOf(found), token: found.token };
  return {
    get(key) {
      return checked('get', key, (tried) => file.read(tried, (db) => stored(found(db, key))));
    },
    async getAll(keys) {
      const tried = `get ${keys.length} rows`;
      for (const key of keys) checkKey(tried, key);
      const all = await file.read(tried, (db) => keys.map((key) => stored(found(db, key))));
      return all ?? keys.map(() => undefined);
    },
    put: (key, row, { expected, token, mayUseReserve, needsReserve }) =>
      checked('put', key, (tried) => {
        const json = textOf(tried, row);
        const change = (db: DatabaseSync, self: string): WriteResult => {
          const current = found(db, key);
          if (current?.token === token) return { kind: 'stored' };
          if ((current?.token ?? null) !== expected) return { kind: 'other', current: stored(current) };
          statement(db, PUT).run(key.partition, key.sort, json, token, self);
          return { kind: 'stored' };
        };
        return file.write(tried, change, { mayUseReserve, needsReserve });
      }),
    delete: (key, expected) =>
      checked('delete', key, (tried) =>
        file.write(tried, (db): WriteResult => {
          const current = found(db, key);
          if (current !== undefined && current.token !== expected)
            return { kind: 'other', current: stored(current) };
          db.prepare('DELETE FROM rows WHERE pk = ? AND sk = ?').run(key.partition, key.sort);
          return { kind: 'stored' };
        }),
      ),
    list: (partition) => pages({ file, rowOf }, partition, 'pk = ?'),
    scan: (prefix) => pages({ file, rowOf }, prefix, 'substr(pk, 1, length(?)) = ?1'),
  };
}

/**
 * Converts rows to and from the stored form: the ends of leases are stored as times of the steady clock, and read
 * as 0 if the process that wrote them has ended.
 */
function createRows(
  file: SqliteFile,
  { leases = [], now = Date.now, steady = sinceBoot }: SqliteTableOptions,
) {
  const withLeases = (row: Row, change: (ms: number) => number): Row => {
    const held = leases.filter((name) => Number(row[name] ?? 0) !== 0);
    if (held.length === 0) return row;
    return { ...row, ...Object.fromEntries(held.map((name) => [name, change(Number(row[name]))])) };
  };
  const toStored = (ms: number) => ms - now() + steady();
  return {
    textOf: (tried: string, row: Row) => checkedText(tried, withLeases(row, toStored)),
    rowOf({ row, writer }: Found): Row {
      const isHeld = (ms: number) => ms <= steady() || file.isAlive(writer);
      return withLeases(parseRow(row), (ms) => (isHeld(ms) ? ms - steady() + now() : 0));
    },
  };
}

const parseRow = (text: string) => parseOwnJson(text) as Row;

const PUT = `INSERT INTO rows (pk, sk, row, token, writer) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (pk, sk) DO UPDATE SET row = excluded.row, token = excluded.token, writer = excluded.writer`;

type Found = {
  readonly pk: string;
  readonly sk: string;
  readonly row: string;
  readonly token: string;
  readonly writer: string;
};

const found = (db: DatabaseSync, { partition, sort }: RowKey) =>
  statement(db, 'SELECT * FROM rows WHERE pk = ? AND sk = ?').get(partition, sort) as Found | undefined;

const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>();

/** A prepared statement of an open file, which is reused: preparing takes four times as long as running it. */
function statement(db: DatabaseSync, sql: string): StatementSync {
  const own = prepared.get(db) ?? new Map<string, StatementSync>();
  const made = own.get(sql) ?? db.prepare(sql);
  prepared.set(db, own.set(sql, made));
  return made;
}

async function checked<T>(act: string, key: RowKey, work: (tried: string) => Promise<T>): Promise<T> {
  const tried = `${act} ${key.partition} ${key.sort}`;
  checkKey(tried, key);
  return work(tried);
}

/** Maximum rows of one read, since a scan must not block the event loop. */
const PAGE_ROWS = 500;

async function* pages(
  options: { readonly file: SqliteFile; readonly rowOf: (found: Found) => Row },
  from: string,
  within: string,
): ReturnType<Table['scan']> {
  const { file, rowOf } = options;
  const query = `SELECT * FROM rows WHERE ${within} AND (pk, sk) > (?, ?) ORDER BY pk, sk LIMIT ${PAGE_ROWS}`;
  let last: Pick<Found, 'pk' | 'sk'> = { pk: '', sk: '' };
  for (;;) {
    const { pk, sk } = last;
    const page = await file.read(`list ${from}`, (db) => db.prepare(query).all(from, pk, sk) as Found[]);
    for (const each of page ?? [])
      yield { key: { partition: each.pk, sort: each.sk }, row: rowOf(each), token: each.token };
    const end = page?.[PAGE_ROWS - 1];
    if (end === undefined) return;
    last = end;
  }
}

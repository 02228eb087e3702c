import { resolve } from 'node:path';
import * as z from 'zod/mini';
import { once } from '../base/index.ts';
import { sqlitePath, storeLocation } from '../locations.ts';
import { findStored, openStore, printStored, type Store, StoreError } from '../store/index.ts';
import type { Table } from './table.ts';
import { TableError } from './table-error.ts';

/*
 * The object that records which table belongs to a store, as the ledger of its jobs and texts. A process with another
 * table sends nothing, since that table does not show what was already sent. A DynamoDB table is identified only by its
 * name, since the roles of the stack may not use DescribeTable.
 */

const TABLE_KEY = 'table.json';

/** The value of SYNC_TABLE, the stack of the process that recorded it, and the id of a SQLite file. */
const namedSchema = z.object({
  version: z.literal(1),
  table: z.string(),
  stack: z.optional(z.string()),
  id: z.optional(z.string()),
});

type NamedTable = z.infer<typeof namedSchema>;

/** Throws a `bad-table` TableError if the store belongs to another table. The caller must then send nothing. */
export type CheckTable = () => Promise<void>;

/**
 * The option with which a command starts a new ledger before it sends. It is passed along with the settings, but it
 * is not an environment variable.
 */
export const NEW_LEDGER = '--new-ledger';

/**
 * Creates the check whether a table, the value of SYNC_TABLE, belongs to the store. If the store has recorded no
 * table yet, or with `NEW_LEDGER`, the check records this one, and creates it if it is a SQLite file. After it has
 * succeeded, it is not repeated. An unavailable store counts as an unavailable table.
 */
export const tableCheckOf = (
  table: string,
  environment: Readonly<Partial<Record<string, string>>>,
  open: () => Promise<Pick<Store, 'get' | 'put' | 'location'>> = () =>
    openStore(storeLocation(environment), { s3: environment }),
): CheckTable =>
  once(async () => {
    try {
      const store = await open();
      const read = async () => (await findStored(store, TABLE_KEY, namedSchema))?.value;
      const isNew = environment[NEW_LEDGER] !== undefined;
      const named = isNew ? undefined : await read();
      if (named !== undefined) return await compare(named, table, store.location);
      const ours = await naming(table, environment['SYNC_STACK']);
      await store.put(TABLE_KEY, printStored(ours), isNew ? {} : { condition: { ifAbsent: true } });
      // Another process may have recorded its table first.
      await compare((await read()) ?? ours, table, store.location);
    } catch (error) {
      throw asTableError(error);
    }
  });

/** Wraps a table so that it stores nothing before the check has passed. */
export const checkedTable = (table: Table, check: CheckTable): Table => ({
  ...table,
  async put(...given) {
    await check();
    return table.put(...given);
  },
});

/** What may happen with a new ledger, in words. */
export const NEW_LEDGER_RISK = 'jobs and texts that were sent before may be sent again';

async function naming(table: string, stack: string | undefined): Promise<NamedTable> {
  const id = await idOf(table, 'write');
  return id === undefined
    ? { version: 1, table, stack }
    : { version: 1, table: `sqlite:${resolve(sqlitePath(table) ?? '')}`, id };
}

/** The id of a SQLite file; undefined if it does not exist, and for a DynamoDB table. */
async function idOf(table: string, by: 'read' | 'write'): Promise<string | undefined> {
  const path = sqlitePath(table);
  if (path === undefined) return undefined;
  const sqlite = await import('./sqlite-file.ts');
  return sqlite.idOf(sqlite.sqliteFile(path), by);
}

async function compare(named: NamedTable, table: string, store: string): Promise<void> {
  const id = await idOf(table, 'read');
  const isFile = sqlitePath(table) !== undefined;
  if (isFile ? id !== undefined && id === named.id : table === named.table) return;
  const got = isFile && id === undefined ? 'no file, or an empty file' : 'another ledger';
  throw new TableError(`use SYNC_TABLE=${table} with ${store}`, {
    kind: 'bad-table',
    table,
    expected: ledgerOf(named),
    got: `${got}; nothing was sent. If the store or the file was moved: docs/restore.md, "A store that moved". To start a new ledger: --new-ledger (${NEW_LEDGER_RISK})`,
  });
}

function ledgerOf({ table, stack, id }: NamedTable): string {
  const owner = stack ? ` of the stack ${stack}` : '';
  return id === undefined
    ? `the store's own ledger, recorded in ${TABLE_KEY}: the DynamoDB table SYNC_TABLE=${table}${owner} (platform-sync env --stack NAME)`
    : `the store's own ledger, recorded in ${TABLE_KEY}: the file that was SYNC_TABLE=${table} when it was created (id ${id})`;
}

function asTableError(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error;
  const { failure } = error;
  const isUnavailable = failure.kind === 'busy' || failure.kind === 'unreachable';
  return isUnavailable ? new TableError(`read ${TABLE_KEY}`, failure, { cause: error }) : error;
}

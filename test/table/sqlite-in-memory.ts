import { DatabaseSync } from 'node:sqlite';
import { SCHEMA, type SqliteFile } from '../../lib/table/sqlite-file.ts';
import { TableError } from '../../lib/table/table-error.ts';

/** A process that shares the file, and whether it is running. */
export type Sharer = { readonly name: string; readonly isAlive: boolean };

/**
 * A SQLite file in memory, opened by each of several simulated processes. The real rows, budget and queue run over it,
 * and each change is immediate. A process that has ended writes nothing and keeps no lease.
 */
export function createSqliteInMemory(): (sharer: Sharer) => SqliteFile {
  const db = new DatabaseSync(':memory:');
  db.exec(SCHEMA);
  const sharers = new Map<string, Sharer>();
  return (self) => {
    sharers.set(self.name, self);
    return {
      path: 'memory',
      read: async (_, look) => look(db),
      async write(tried, change) {
        if (!self.isAlive) throw new TableError(tried, { kind: 'unreachable', code: 'EPIPE' });
        return change(db, self.name);
      },
      isAlive: (name) => sharers.get(name)?.isAlive === true,
      erase: async () => undefined,
      close: () => undefined,
    };
  };
}

import { DatabaseSync } from 'node:sqlite';
import { SCHEMA, type SqliteFile } from '../../lib/table/sqlite-file.ts';
import { TableError } from '../../lib/table/table-error.ts';

/** A process that shares the file, and whether it still runs. */
export type Sharer = { readonly name: string; readonly isAlive: boolean };

/**
 * A file of SQLite that is never on a disk, as each of several processes has it open: the rows, the budget and the queue
 * over it are the real ones, and each change is made at once. What has ended writes nothing, and holds nothing.
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

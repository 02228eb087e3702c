import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { createSqliteTable } from '../../lib/table/sqlite-table.ts';
import { describeTable } from './table-suite.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sqlite-table-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describeTable('a table in SQLite', async () =>
  createSqliteTable(sqliteFile(join(folder, `${randomUUID()}.db`))),
);

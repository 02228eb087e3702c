import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { createSqliteTable } from '../../lib/table/sqlite-table.ts';
import type { Table } from '../../lib/table/table.ts';
import { createMemoryTable } from './memory-table.ts';
import { createSqliteInMemory } from './sqlite-in-memory.ts';
import { startDynamo, type TestDynamo } from './start-dynamo.ts';

/** Runs a suite on every kind of table. `buildTable` returns a new, empty one for each test. */
export function onEveryTable(suite: (buildTable: () => Promise<Table>) => void): void {
  describe('in memory:', () => suite(async () => createMemoryTable()));

  describe('in DynamoDB:', () => {
    let dynamo: TestDynamo;
    let tables = 0;
    beforeAll(async () => {
      dynamo = await startDynamo();
    });
    afterAll(() => dynamo.close());
    suite(async () => {
      tables += 1;
      await dynamo.createTable(`table-${tables}`);
      return createDynamoTable({ tableName: `table-${tables}`, environment: dynamo.environment });
    });
  });

  describe('in SQLite:', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'sqlite-'));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));
    suite(async () => createSqliteTable(sqliteFile(join(folder, `${randomUUID()}.db`))));
  });
}

/** The kinds of table that are fast enough for suites with hundreds of writes a test. */
export const FAST_TABLES: readonly (readonly [name: string, buildTable: () => Table])[] = [
  ['in memory', createMemoryTable],
  ['in SQLite', () => createSqliteTable(createSqliteInMemory()({ name: 'self', isAlive: true }))],
];

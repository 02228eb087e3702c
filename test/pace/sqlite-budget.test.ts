import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSqliteBudget } from '../../lib/pace/sqlite-budget.ts';
import { sqliteFile } from '../../lib/table/sqlite-file.ts';
import { breakerSuite } from './breaker-suite.ts';
import { budgetSuite } from './budget-suite.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sqlite-budget-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newFile = () => sqliteFile(join(folder, `${randomUUID()}.db`));

budgetSuite('a budget in SQLite', () => createSqliteBudget({ file: newFile(), host: 'a' }));
breakerSuite('a breaker in SQLite', () => createSqliteBudget({ file: newFile(), host: 'a' }).breaker);

test('the breaker is seen by whoever reads or writes the budget', async () => {
  const breaker = { sinceMs: 1, cause: 'unreachable', probeAtMs: 2 };
  const seen: unknown[] = [];
  const item = createSqliteBudget({
    file: newFile(),
    host: 'a',
    onBudget: (each) => seen.push(each.breaker),
  });

  await item.breaker.open(breaker);
  await item.read();
  await item.pause(3);

  expect(seen).toEqual([breaker, breaker, breaker]);
});

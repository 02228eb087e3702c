import { afterAll, expect, test } from 'vitest';
import { openTables } from '../../../lib/tables/duckdb/open-tables.ts';
import { link } from '../../model/stores.ts';
import { monday, publishLines, tuesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { rowsOf } from './published.ts';

const store = createMemoryStore();
const tables = await openTables(store, { memoryMb: 200 });
afterAll(() => tables[Symbol.asyncDispose]());

const ada = { id: 5, type: 'USER', displayName: 'Ada' };
const card = { id: 31, ownerId: 5, owners: [ada] };
const unused = { id: 1, owner: 5, links: [link('DATA_SOURCE', 'd')] };
const broken = { ...unused, links: [link('DATA_SOURCE', 'd', { valid: 'GONE' })] };

test('SQL can read the history of models, and since when each record has a flag', async () => {
  await publishLines(store, { place: 'cards', run: monday, lines: [JSON.stringify(card)] });
  await publishLines(store, { run: monday, lines: [JSON.stringify(unused)] });
  // The model is computed for this query.
  const first = await rowsOf(
    tables,
    'SELECT day, flag, owner_id, owner_name, "count" FROM model_history WHERE count > 0',
  );
  await publishLines(store, { run: tuesday, lines: [JSON.stringify(broken)] });

  const trend = await rowsOf(
    tables,
    "SELECT day, count FROM model_history WHERE flag = 'Broken_Links' AND owner_id IS NULL ORDER BY day",
  );
  const since = await rowsOf(tables, 'SELECT id, unused_since, broken_since FROM calculations');

  expect(first).toEqual([
    ['2026-11-16', 'unused', null, null, 1],
    ['2026-11-16', 'unused', '5', 'Ada', 1],
  ]);
  expect(trend).toEqual([
    ['2026-11-16', 0],
    ['2026-11-17', 1],
  ]);
  expect(since).toEqual([['1', monday.startedAt, tuesday.startedAt]]);
});

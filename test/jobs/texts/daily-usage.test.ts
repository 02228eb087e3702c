import { expect, test } from 'vitest';
import { createDailyUsageCounter } from '../../../lib/jobs/texts/daily-usage.ts';
import { createMemoryTable } from '../../table/memory-table.ts';

const EVENING = Date.UTC(2026, 10, 26, 23);

test('all processes add to one row for the day, and each receives the day’s total', async () => {
  const table = createMemoryTable();
  const [one, other] = [
    createDailyUsageCounter(table, () => EVENING),
    createDailyUsageCounter(table, () => EVENING),
  ];

  const days = await Promise.all([one({ calls: 10, tokens: 100 }), other({ calls: 5, tokens: 70 })]);

  expect(days).toContainEqual({ calls: 15, tokens: 170 });
  expect(await one({ calls: 1, tokens: 0 })).toEqual({ calls: 16, tokens: 170 });
});

test('the next day begins with nothing, and an invocation without texts writes nothing', async () => {
  const table = createMemoryTable();
  let nowMs = EVENING;
  const add = createDailyUsageCounter(table, () => nowMs);
  await add({ calls: 10, tokens: 100 });
  nowMs += 3_600_000;

  expect(await add({ calls: 0, tokens: 0 })).toBeUndefined();
  expect(await add({ calls: 2, tokens: 30 })).toEqual({ calls: 2, tokens: 30 });
});

test('what could not be written is added the next time', async () => {
  const table = createMemoryTable();
  let isUnavailable = true;
  const add = createDailyUsageCounter(
    {
      ...table,
      get: async (key) => {
        if (isUnavailable) throw new Error('unavailable');
        return table.get(key);
      },
    },
    () => EVENING,
  );

  await expect(add({ calls: 10, tokens: 100 })).rejects.toThrow('unavailable');
  isUnavailable = false;

  expect(await add({ calls: 1, tokens: 1 })).toEqual({ calls: 11, tokens: 101 });
});

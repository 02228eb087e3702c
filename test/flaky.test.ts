import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withoutFlaky } from './flaky.ts';

const printed: string[] = [];
beforeEach(() => {
  printed.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line) => printed.push(line));
});
afterEach(() => vi.restoreAllMocks());

test('what passes twice alone is printed as flaky, and counts as passed', async () => {
  const tries = { search: [true, true], keys: [true, false], print: [false] };

  const outcome = await withoutFlaky(
    { passed: 7, failed: 3 },
    Object.keys(tries),
    (name) => tries[name as keyof typeof tries].shift() ?? false,
  );

  expect(outcome).toEqual({ passed: 8, failed: 2 });
  expect(printed).toEqual(['flaky: search']);
});

test('where much fails, nothing is tried again', async () => {
  const outcome = await withoutFlaky({ passed: 3, failed: 4 }, ['a', 'b', 'c', 'd'], () => true);

  expect(outcome).toEqual({ passed: 3, failed: 4 });
  expect(printed).toEqual([]);
});

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../store/memory-store.ts';
import { publishTwoRuns } from '../tables/duckdb/published.ts';
import { beginCommand } from './run-command.ts';

/* Commands that erase something ask for confirmation at a terminal. */

async function pruneAt(typed: string) {
  const store = createMemoryStore();
  await publishTwoRuns(store);
  const before = store.objects.size;
  const [input, output] = [new PassThrough(), new PassThrough()];
  const dialog = { input, output };
  const overrides = { dialog, openStore: async () => store };
  const { ended, interrupt } = beginCommand(['prune', '--keep', '1'], {}, overrides);
  let screen = '';
  output.on('data', (data: Buffer) => {
    screen += data.toString();
    if (screen.includes('(yes or no)')) typed === 'Ctrl-C' ? interrupt() : input.write(typed);
  });
  return { ...(await ended), screen, removed: before - store.objects.size };
}

test('prune deletes the listed runs if the answer is yes', async () => {
  const { code, err, screen, removed } = await pruneAt('yes\n');

  expect(code).toBe(0);
  expect(removed).toBeGreaterThan(0);
  expect(err).toMatch(/^calculations \S+ \(published\): \d+ objects/);
  expect(screen).toMatch(/^Delete \d runs?, \d+ objects, [\d.]+ kB\? \(yes or no\) \[no\]: /);
});

test.each([
  ['\n', 1, 'nothing was deleted'],
  ['no\n', 1, 'nothing was deleted'],
  ['Ctrl-C', 130, 'interrupted: stopped as requested'],
])('prune deletes nothing if the answer is %j, and exits %i', async (typed, expected, words) => {
  const { code, err, removed } = await pruneAt(typed);

  expect({ code, removed }).toEqual({ code: expected, removed: 0 });
  expect(err).toContain(words);
});

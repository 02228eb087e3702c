import { expect, test } from 'vitest';
import type { Store } from '../../lib/store/store.ts';
import { sampled } from '../scale.ts';
import { monday, publishLines, tuesday, wednesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';
import { runCommand } from './run-command.ts';

const lines = ['{"id":1,"name":"one","links":[]}', '{"id":2,"name":"two","links":[]}'];

/** Runs a command over two published runs. Before its read number `at`, a third is published and `prune` deletes the two. */
async function runDuringPrune(argv: readonly string[], at: number) {
  const store = createMemoryStore();
  await publishLines(store, { run: monday, lines });
  await publishLines(store, { run: tuesday, lines, manifest: { begunAfter: monday.id } });
  let reads = 0;
  const meanwhile = async () => {
    reads += 1;
    if (reads !== at) return;
    await publishLines(store, { run: wednesday, lines, manifest: { begunAfter: tuesday.id } });
    const pruned = await runCommand(['prune', '--keep', '1', '--yes'], {}, '', {
      openStore: async () => store,
    });
    expect(pruned.code).toBe(0);
  };
  const watched: Store = {
    ...store,
    get: async (...args) => meanwhile().then(() => store.get(...args)),
    stream: async (...args) => meanwhile().then(() => store.stream(...args)),
  };
  const ended = await runCommand(argv, {}, '', { openStore: async () => watched });
  return { ...ended, reads };
}

test.each([
  [['report', '--output', '-']],
  [['runs', '--all']],
  [['diff', 'calculations']],
  [['where-used', '1']],
  [['tables']],
  [['query', 'SELECT run, count(*) FROM all_calculations GROUP BY run', '--csv']],
])(
  '%j exits 0 while prune deletes a run, and does not mention that run',
  async (argv) => {
    const { reads } = await runDuringPrune(argv, Number.POSITIVE_INFINITY);

    for (const at of sampled(
      3,
      Array.from({ length: reads }, (_, index) => index + 1),
    )) {
      const { code, err } = await runDuringPrune(argv, at);
      expect({ at, code, err }).toEqual({ at, code: 0, err: expect.not.stringMatching(/run=/) });
    }
  },
  240_000,
);

import { expect, test } from 'vitest';
import { countsIn, runStage } from './run-stage.ts';

async function outcomeOf(script: string, limitMinutes = 1) {
  const printed: string[] = [];
  const stage = { name: 'one', command: ['sh', '-c', script], limitMinutes } as const;
  const outcome = await runStage(stage, {
    signal: new AbortController().signal,
    print: (line) => printed.push(line),
  });
  return { ...outcome, printed };
}

test('the last line of a stage decides its outcome, and its notes are collected', async () => {
  const { passed, failed, notes, printed } = await outcomeOf(
    'echo "flaky: a search"; echo "not run: sql" >&2; echo "3 passed, 0 failed"',
  );

  expect({ passed, failed }).toEqual({ passed: 3, failed: 0 });
  expect(notes.toSorted()).toEqual(['flaky: a search', 'not run: sql']);
  expect(printed).toContain('one | 3 passed, 0 failed');
});

test.each([
  ['3 passed, 0 failed', 1, { passed: 3, failed: 1 }],
  ['3 passed, 2 failed', 1, { passed: 3, failed: 2 }],
  ['3 passed, 2 failed', 0, { passed: 3, failed: 2 }],
  ['Segmentation fault', 0, { passed: 0, failed: 1 }],
])('the outcome is right for %j with exit code %i', (line, code, counts) => {
  expect(countsIn(line, code)).toEqual(counts);
});

test('a stage that hangs is stopped together with the processes it started, and fails', async () => {
  // The background process keeps the output open, for which the stage waits ten more seconds.
  const { failed, notes, minutes } = await outcomeOf('sleep 60 & wait', 0.005);

  expect(failed).toBe(1);
  expect(notes).toEqual(['FAILED: one: took longer than 0.005 min']);
  expect(minutes * 60).toBeLessThan(8);
});

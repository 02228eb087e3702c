import { expect, test } from 'vitest';
import { batchCells, batchLines } from '../../lib/cli/commands/batches.ts';
import type { BatchStatus } from '../../lib/jobs/texts/batch/batch-status.ts';

const open: BatchStatus = {
  batch: 'may',
  status: 'open',
  chunks: 100,
  chunksEnded: 40,
  rows: 10_000,
  rowsLeft: 6_000,
  scored: 3_950,
  failed: 40,
  cancelled: 30,
  bad: 10,
  erased: 0,
};

test.each([
  [open, { rate: 2, isPaused: false }, '6,000 rows, about 50 min'],
  [open, { rate: 2, isPaused: true }, '6,000 rows, paused'],
  [open, undefined, '6,000 rows'],
  [{ ...open, rowsLeft: null }, { rate: 2, isPaused: false }, 'unknown'],
  [{ ...open, rowsLeft: 0 }, undefined, '-'],
  [{ ...open, rowsLeft: 1 }, { rate: 0.3, isPaused: false }, '1 row, about 4 s'],
])('the time left is estimated from the rows left and the rate', (status, rate, left) => {
  expect(batchCells(status, rate).at(-1)).toBe(left);
});

test('one batch is described with its open rows, its failed rows, and what to do', () => {
  const failures = [{ line: 7, id: 'x', error: 'status 400' }];

  expect(batchLines(open, failures, { rate: 2, isPaused: false })).toEqual([
    'batch may: open; 40 of 100 chunks have ended',
    '10,000 rows: 3,950 scored, 40 failed, 30 of them cancelled, 10 bad',
    'left: 6,000 rows, about 50 min at 2 a second',
    '  line 7 (id x): status 400',
    '  and 39 more failed rows',
    'to score the failed rows again: platform-sync redrive --batch may; without a queue, score the file under another --batch: you pay only for these rows',
  ]);
  const stopped = {
    ...open,
    status: 'unfinished',
    chunks: null,
    rows: null,
    rowsLeft: null,
    failed: 0,
    cancelled: 0,
  } as const;
  expect(batchLines(stopped, [], undefined)).toEqual([
    'batch may: unfinished; 40 chunks have ended',
    '3,950 scored, 0 failed, 10 bad',
    'left: unknown',
    expect.stringMatching(/^the file is still being split, or `score` was stopped/),
  ]);
});

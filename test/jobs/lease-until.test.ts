import { expect, test } from 'vitest';
import { jobTimes } from '../../lib/contract.ts';
import { leaseUntil } from '../../lib/jobs/open-worker.ts';

test.each([400_000, 20_000, 3_000])('a lease outlasts an invocation that has %i ms left', (leftMs) => {
  const nowMs = 1_000_000;

  const { leaseMs } = leaseUntil(nowMs + leftMs - jobTimes.toAnswerMs, () => nowMs);

  expect(leaseMs).toBeGreaterThan(leftMs);
});

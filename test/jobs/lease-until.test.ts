import { expect, test } from 'vitest';
import { invocationLease } from '../../lib/jobs/open-worker.ts';

test.each([400_000, 20_000, 3_000])('a lease outlasts an invocation that has %i ms left', (leftMs) => {
  const { leaseMs } = invocationLease(leftMs, { now: () => 1_000_000, steady: () => 5 });

  expect(leaseMs).toBeGreaterThan(leftMs);
});

const MONTH_MS = 31 * 86_400_000;

test.each([-MONTH_MS, MONTH_MS])(
  'a lease does not depend on a clock that is set by %i ms during an invocation',
  (offMs) => {
    let [nowMs, steadyMs] = [1_000_000, 5];
    const lease = invocationLease(400_000, { now: () => nowMs, steady: () => steadyMs });

    nowMs += offMs + 100_000;
    steadyMs += 100_000;

    expect(lease.leaseMs).toBe(302_000);
    expect(lease.writeUntilMs() - nowMs).toBe(299_000);
    expect((lease.deadlineMs ?? 0) - nowMs).toBeLessThan(300_000);
  },
);

test('a lease is not a month longer if the clock is a month slow when an invocation begins', () => {
  expect(invocationLease(MONTH_MS, { now: () => 0, steady: () => 0 }).leaseMs).toBe(902_000);
});

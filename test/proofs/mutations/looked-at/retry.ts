import type { LookedAt } from '../report.ts';

/** The survivors of the group `retry` that need no test, and why. */
export const retry: readonly LookedAt[] = [
  {
    file: 'lib/jobs/after-failure.ts',
    code: "failure.kind === 'status' ? Math.min(failure.retryAfterMs ?? 0",
    to: ['true'],
    why: 'no other failure has a `retryAfterMs`; the check is for the compiler',
  },
  {
    file: 'lib/platform/outage.ts',
    code: 'sort: { field',
    to: ['false'],
    why: 'a probe reads any one calculation: which one does not matter',
  },
  {
    file: 'lib/platform/retry.ts',
    code: "failure.kind === 'status' ? failure.retryAfterMs : undefined",
    to: ['true'],
    why: 'no other failure has a `retryAfterMs`; the check is for the compiler',
  },
];

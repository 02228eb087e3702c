import type { LookedAt } from './report.ts';

/** The survivors that need no test, and why. */
export const lookedAt: readonly LookedAt[] = [
  {
    file: 'lib/jobs/after-failure.ts',
    code: "failure.kind === 'status' ? Math.min(failure.retryAfterMs ?? 0",
    to: ['true'],
    why: 'no other failure has a `retryAfterMs`; the check is for the compiler',
  },
];

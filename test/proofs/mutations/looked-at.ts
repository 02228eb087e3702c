import type { LookedAt } from './report.ts';

/** The survivors that need no test, and why. */
export const lookedAt: readonly LookedAt[] = [
  {
    file: 'lib/**',
    code: 'satisfies never',
    to: ['default:'],
    why: 'never reached: the compiler proves that every case is there',
  },
  {
    file: 'lib/jobs/after-failure.ts',
    code: "failure.kind === 'status' ? Math.min(failure.retryAfterMs ?? 0",
    to: ['true'],
    why: 'no other failure has a `retryAfterMs`; the check is for the compiler',
  },
  {
    file: 'lib/platform/retry.ts',
    code: "failure.kind === 'status' ? failure.retryAfterMs : undefined",
    to: ['true'],
    why: 'no other failure has a `retryAfterMs`; the check is for the compiler',
  },
];

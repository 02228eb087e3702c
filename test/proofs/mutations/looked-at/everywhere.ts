import type { LookedAt } from '../report.ts';

/** The survivors in code of any group that need no test, and why. */
export const everywhere: readonly LookedAt[] = [
  {
    file: 'lib/**',
    code: 'satisfies never',
    to: ['default:'],
    why: 'never reached: the compiler proves that every case is there',
  },
];

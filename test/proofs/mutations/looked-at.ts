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
    file: 'lib/jobs/ledger/transitions.ts',
    code: 'if (untilMs !== undefined && nowMs < untilMs)',
    to: ['true'],
    why: 'no number is below undefined; the check is for the compiler',
  },
  {
    file: 'lib/jobs/ledger/transitions.ts',
    code: 'if (leftMs <= 0 || leftMs < mustLastMs)',
    to: ['leftMs < 0', 'false'],
    why: 'a send lasts longer than 0 ms (`checkMs`), so nothing left is too little all the same',
  },
  {
    file: 'lib/jobs/ledger/transitions.ts',
    code: '{ answer: undefined }',
    to: ['{}'],
    why: 'an answer that is undefined is the same as none',
  },
  {
    file: 'lib/jobs/ledger/transitions.ts',
    code: 'earlierSentFence: row.sentFence',
    to: ['false'],
    why: 'an attribute that is undefined is not stored',
  },
  {
    file: 'lib/jobs/ledger/transitions.ts',
    code: 'earlierFinishedAt: finishedAt',
    to: ['false'],
    why: 'an attribute that is undefined is not stored, and only a job that has ended is reopened',
  },
  {
    file: 'lib/jobs/ledger/transitions.ts',
    code: 'contentHash === undefined ? {} : { contentHash }',
    to: ['false'],
    why: 'an attribute that is undefined is not stored',
  },
  {
    file: 'lib/jobs/ledger/transitions.ts',
    code: 'row.type !== undefined && stops',
    to: ['true'],
    why: 'a job that was claimed has a type; the check is for the compiler',
  },
  {
    file: 'lib/platform/outage.ts',
    code: 'sort: { field',
    to: ['false'],
    why: 'a probe reads any one calculation: which one does not matter',
  },
  {
    file: 'lib/snapshot/publish/manifest-key.ts',
    code: 'ifAbsent: true',
    to: ['false'],
    why: 'the type allows only true',
  },
  {
    file: 'lib/platform/retry.ts',
    code: "failure.kind === 'status' ? failure.retryAfterMs : undefined",
    to: ['true'],
    why: 'no other failure has a `retryAfterMs`; the check is for the compiler',
  },
];

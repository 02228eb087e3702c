import type { LookedAt } from '../report.ts';

/** The survivors of the group `ledger` that need no test, and why. */
export const ledger: readonly LookedAt[] = [
  {
    file: 'lib/jobs/handle-message.ts',
    code: '(await ledger.read(job.id))?.cancelled === true',
    to: ['(await ledger.read(job.id)).cancelled'],
    why: 'whoever looks takes what throws for a no',
  },
  {
    file: 'lib/jobs/turn.ts',
    code: 'if (deadlineMs !== undefined && deadlineMs - now() < mustLastMs)',
    to: ['true'],
    why: 'no number is below undefined; the check is for the compiler',
  },
  {
    file: 'lib/jobs/turn.ts',
    code: 'if (sentLastsMs !== undefined) leaveUntilMs',
    to: ['true'],
    why: 'no number is above undefined; the check is for the compiler',
  },
  {
    file: 'lib/jobs/turn.ts',
    code: 'isCancelled().catch(() => false)',
    to: ['() => undefined'],
    why: 'undefined is no yes either',
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
    file: 'lib/jobs/ledger/stored-row.ts',
    code: 'issue?.path',
    to: ['issue.path'],
    why: 'a row that is refused has an issue; the check is for the compiler',
  },
  {
    file: 'lib/jobs/ledger/stored-row.ts',
    code: 'Which is no outcome',
    to: ['{}'],
    why: 'a function without a return returns undefined',
  },
];

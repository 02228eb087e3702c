import { expect, test } from 'vitest';
import { isCancelled, type JobRow } from '../../../lib/jobs/ledger/job-row.ts';

const row: JobRow = { id: 'a', state: 'FAILED', fence: 1, attempts: 0, takeovers: 0, dt: '', createdAt: 0 };
const failedWith = (kind: string): JobRow => ({
  ...row,
  outcome: { status: 'failed', error: { kind, message: 'it failed' } },
});

test.each([
  ['before it was sent', failedWith('cancelled'), true],
  ['after it had failed', { ...failedWith('status'), cancelled: true }, true],
  ['while it is under way', { ...row, state: 'SENT', cancelled: true }, true],
  ['not, though it failed', failedWith('status'), false],
  ['not, though it ended', { ...row, outcome: { status: 'done' } }, false],
  ['not, and is under way', { ...row, state: 'SENT' }, false],
] as const)('a person has cancelled a job %s', (_, given, expected) => {
  expect(isCancelled(given)).toBe(expected);
});

import { expect, test } from 'vitest';
import type { Claim } from '../../../lib/jobs/ledger/job-row.ts';
import { decideNotSent, decideSent } from '../../../lib/jobs/ledger/transitions.ts';

const held: Claim = {
  id: 'a',
  state: 'CLAIMED',
  fence: 3,
  leaseUntilMs: 60_000,
  attempts: 1,
  takeovers: 0,
  dt: '2026-11-21',
  createdAt: 1,
};

test.for([
  [59_999, 1, 'sent'],
  [59_999, 2, 'too-late'],
  [0, 60_000, 'sent'],
  [0, 60_001, 'too-late'],
  [60_000, 1, 'too-late'],
  [70_000, 1, 'too-late'],
] as const)('at %i of a lease until 60000, a send of %i ms is %s', ([nowMs, mustLastMs, expected]) => {
  const { answer } = decideSent(held, held, { nowMs, mustLastMs });

  expect(answer.kind).toBe(expected);
});

test('a send that is too late writes nothing', () => {
  const decision = decideSent(held, held, { nowMs: 59_999, mustLastMs: 2 });

  expect(decision).toEqual({ answer: { kind: 'too-late', leftMs: 1 } });
});

test('a job that was not sent is written again, so that a send still under way can no longer succeed', () => {
  const decision = decideNotSent(held, held, { wasTried: false });

  expect(decision).toEqual({ write: held, answer: { kind: 'held', claim: held } });
});

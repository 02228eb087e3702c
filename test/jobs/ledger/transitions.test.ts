import { describe, expect, test } from 'vitest';
import type { Claim, EndedJobRow, JobRow } from '../../../lib/jobs/ledger/job-row.ts';
import {
  decideClaim,
  decideRelease,
  decideSent,
  type LateOutcome,
  neverSent,
} from '../../../lib/jobs/ledger/transitions.ts';

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

test('a send that is found written is the holder’s own, whoever has renewed the lease since', () => {
  const row: Claim = { ...held, state: 'SENT', attempts: 2, sentFence: 3, leaseUntilMs: 90_000 };

  const decision = decideSent(row, held, { nowMs: 50_000, mustLastMs: 2_000 });

  expect(decision).toEqual({ answer: { kind: 'sent', claim: row } });
});

describe('a job that another worker has called unknown, and whose request never left', () => {
  const { leaseUntilMs: _, ...free } = held;
  const unknown: EndedJobRow = {
    ...free,
    state: 'UNKNOWN',
    sentFence: 3,
    finishedAt: 60_000,
    outcome: { status: 'unknown', error: { kind: 'answer-lost', message: '' } },
  };
  const release = (row: JobRow, fence = 3, hasLeft = false) =>
    decideRelease(row, { id: 'a', fence }, { hasLeft });
  const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
  const claim = (row: JobRow, late: LateOutcome) =>
    decideClaim(row, request, { leaseMs: 1_000, nowMs: 62_000, late });
  const sent = { id: 'a', createdAt: 1, fence: 3 };

  test('fails by the word of who finds the proof, and that is its latest end', () => {
    const { answer } = claim(unknown, { sent, outcome: neverSent });

    expect(release(unknown)).toEqual({ answer: { kind: 'called-unknown' } });
    expect(answer).toMatchObject({
      kind: 'ended',
      row: { state: 'FAILED', attempts: 0, outcome: neverSent },
    });
    expect('row' in answer && answer.row?.finishedAt).toBeGreaterThan(60_000);
  });

  test('is to be sent again by who staged the proof too, though another worker has found it meanwhile', () => {
    const { answer } = claim(unknown, { sent, outcome: neverSent });
    const failed = 'row' in answer ? (answer.row as EndedJobRow) : unknown;
    const cancelled = { ...failed, cancelled: true };

    expect(release(failed)).toEqual({ answer: { kind: 'called-unknown' } });
    expect(release(failed, 2)).toEqual({ answer: { kind: 'lost', row: failed } });
    expect(release(cancelled)).toEqual({ answer: { kind: 'lost', row: cancelled } });
  });

  test('is then claimed as if nothing had been sent, unless a person has cancelled it', () => {
    const { answer } = claim(unknown, { sent, outcome: neverSent });
    const failed = 'row' in answer ? (answer.row as EndedJobRow) : unknown;

    const again = claim(failed, { sent, outcome: undefined }).answer;

    expect(again).toMatchObject({
      kind: 'claimed',
      claim: { fence: 4, attempts: 0, earlierFinishedAt: 62_000 },
    });
    for (const name of ['outcome', 'finishedAt', 'sentFence'])
      expect('claim' in again && again.claim).not.toHaveProperty(name);
    expect(claim({ ...failed, cancelled: true }, { sent, outcome: undefined }).answer.kind).toBe('ended');
  });

  test('stays unknown for the proof of another send, or of an earlier job of its id', () => {
    const others = [
      { ...sent, fence: 2 },
      { ...sent, createdAt: 2 },
    ];

    expect(others.map((other) => claim(unknown, { sent: other, outcome: neverSent }).answer.kind)).toEqual([
      'look',
      'look',
    ]);
    expect(claim(unknown, { sent, outcome: undefined }).answer.kind).toBe('ended');
  });

  test('stays unknown if an earlier send of it may have left', () => {
    const repeated: EndedJobRow = { ...unknown, earlierSentFence: 2 };

    expect(release(repeated)).toEqual({ answer: { kind: 'lost', row: repeated } });
  });

  test('stays as it is for another fence, after a request that left, and when a person has settled it', () => {
    const resolved: EndedJobRow = { ...unknown, state: 'DONE', outcome: { status: 'done' } };

    expect(release(unknown, 2)).toEqual({ answer: { kind: 'lost', row: unknown } });
    expect(release(unknown, 3, true)).toEqual({ answer: { kind: 'lost', row: unknown } });
    expect(release(resolved)).toEqual({ answer: { kind: 'lost', row: resolved } });
  });

  test('stays as a person has settled it', () => {
    const settled: EndedJobRow = { ...unknown, state: 'FAILED' };

    expect(claim(settled, { sent, outcome: neverSent }).answer).toMatchObject({
      kind: 'ended',
      row: settled,
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { Claim, EndedJobRow, JobRow, Outcome } from '../../../lib/jobs/ledger/job-row.ts';
import {
  decideAnnounce,
  decideCancel,
  decideClaim,
  decideEnd,
  decideRelease,
  decideReopen,
  decideResolve,
} from '../../../lib/jobs/ledger/transitions.ts';

/* What each step decides where the holder, the lease or an earlier end makes the difference. */

const nowMs = 50_000;
const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
const facts = { type: 'run-function', contentHash: 'hash', sender: 'me' };
const done: Outcome = { status: 'done', response: '1' };
const failed: Outcome = { status: 'failed', error: { kind: 'status', message: 'a 400', status: 400 } };

const free: JobRow = {
  id: 'a',
  ...facts,
  state: 'CLAIMED',
  fence: 3,
  attempts: 0,
  takeovers: 0,
  dt: '2026-11-21',
  createdAt: 1,
};
const held: Claim = { ...free, state: 'CLAIMED', leaseUntilMs: 60_000 };
const sent: Claim = { ...held, state: 'SENT', attempts: 1, sentFence: 3 };
const endedAs = (state: EndedJobRow['state'], outcome: Outcome): EndedJobRow => ({
  ...free,
  state,
  finishedAt: 40_000,
  outcome,
});

describe('announcing a job', () => {
  test('stores who asked for a new one, and that nobody has it', () => {
    const { write } = decideAnnounce(undefined, request, nowMs);

    expect(write).toEqual({ ...free, fence: 0, dt: '1970-01-01', createdAt: nowMs });
  });

  test('changes nothing if it is known', () => {
    expect(decideAnnounce(held, { ...request, sender: 'another' }, nowMs)).toEqual({ answer: undefined });
  });
});

describe('a claim', () => {
  test('of a job that has ended needs no look for a late outcome', () => {
    const row = { ...endedAs('DONE', done), sentFence: 3 };

    expect(decideClaim(row, request, { leaseMs: 1_000, nowMs })).toEqual({ answer: { kind: 'ended', row } });
  });

  test('of a job that was sent makes it unknown, unless it says that a repeat does no harm', () => {
    const late = { sent: { id: 'a', createdAt: 1, fence: 3 }, outcome: undefined };
    const claimed = (repeats: { readonly mayRepeat?: boolean }) =>
      decideClaim({ ...sent, leaseUntilMs: nowMs }, request, { leaseMs: 1_000, nowMs, late, ...repeats });

    expect(claimed({}).answer).toMatchObject({ kind: 'ended', row: { state: 'UNKNOWN' } });
    expect(claimed({ mayRepeat: true }).answer).toMatchObject({ kind: 'claimed', claim: { fence: 4 } });
  });
});

test('a claim looks again if what it found is the outcome of an earlier job with this id', () => {
  const late = { sent: { id: 'a', createdAt: 0, fence: 3 }, outcome: done };

  expect(
    decideClaim({ ...sent, leaseUntilMs: nowMs }, request, { leaseMs: 1_000, nowMs, late }).answer,
  ).toEqual({ kind: 'look', sent: { id: 'a', createdAt: 1, fence: 3 } });
});

describe('a release', () => {
  test('by a holder of long ago is lost, though the job is free', () => {
    expect(decideRelease(free, { id: 'a', fence: 2 }, {})).toEqual({
      answer: { kind: 'lost', row: free },
    });
  });

  test('of a job that has no row is lost', () => {
    expect(decideRelease(undefined, held, {})).toEqual({ answer: { kind: 'lost', row: undefined } });
  });

  test('of a job that has ended is lost', () => {
    const row = endedAs('DONE', done);

    expect(decideRelease(row, held, {})).toEqual({ answer: { kind: 'lost', row } });
  });
});

describe('an end', () => {
  const end = (row: JobRow | undefined, fence: number, outcome = done) =>
    decideEnd(row, { id: 'a', fence }, { outcome, nowMs });

  test('is lost without a row, or if another worker has the job', () => {
    expect(end(undefined, 3)).toEqual({ answer: { kind: 'lost', row: undefined } });
    expect(end(held, 2)).toEqual({ answer: { kind: 'lost', row: held } });
  });

  test('that is repeated is the same end for the worker that made it, and for nobody else', () => {
    const row = endedAs('DONE', done);

    expect(end(row, 3)).toEqual({ answer: { kind: 'ended', row } });
    expect(end(row, 2)).toEqual({ answer: { kind: 'lost', row } });
    expect(end({ ...row, fence: 4, sentFence: 3 }, 3).answer.kind).toBe('ended');
  });

  test('of a job that a person has cancelled meanwhile says so, unless it is done', () => {
    const cancelled = { ...sent, cancelled: true };

    expect(end(cancelled, 3, failed).write).toMatchObject({ state: 'FAILED', cancelled: true });
    expect(end(cancelled, 3).write).not.toHaveProperty('cancelled');
  });
});

describe('a cancel', () => {
  const cancel = (row: JobRow, stops?: (type: string) => boolean) =>
    decideCancel(row, { id: 'a', nowMs, ...(stops && { stops }) });
  const always = () => true;

  test('stops a job between two sends while somebody has it', () => {
    expect(cancel(held, always).answer.kind).toBe('stopping');
    expect(cancel(sent, always).answer.kind).toBe('stopping');
    expect(cancel({ ...sent, leaseUntilMs: 1 }, always).answer.kind).toBe('stopping');
  });

  test('ends it if nobody has it, or no longer', () => {
    expect(cancel(free, always).answer.kind).toBe('cancelled');
    expect(cancel({ ...held, leaseUntilMs: nowMs }, always).answer.kind).toBe('cancelled');
  });

  test('comes too late for a job that was sent and does not stop', () => {
    expect(cancel(sent).answer.kind).toBe('sent');
    expect(cancel(held).answer.kind).toBe('cancelled');
  });

  test('says whether the job was sent before', () => {
    const messageOf = (row: JobRow) => cancel(row).write?.outcome?.error?.message;

    expect(messageOf(free)).toBe('the job was cancelled before it was sent');
    expect(messageOf({ ...free, sentFence: 2 })).toBe('the job was cancelled before it was sent again');
  });
});

describe('a job that is reopened', () => {
  const row = endedAs('FAILED', failed);

  test('expects the content that it had, unless a person says that it may be another', () => {
    expect(decideReopen(row, {}).write).toMatchObject({ contentHash: 'hash', earlierFinishedAt: 40_000 });
    expect(decideReopen(row, { anyContent: true }).write).not.toHaveProperty('contentHash');
  });
});

test('a job is not resolved again with another outcome, whatever the note says', () => {
  const row = endedAs('FAILED', { status: 'failed', error: { kind: 'resolved', message: 'checked' } });
  const resolve = (status: 'done' | 'failed') => decideResolve(row, { status, note: 'checked', nowMs });

  expect(resolve('failed').answer.kind).toBe('resolved');
  expect(resolve('done').answer.kind).toBe('refused');
});

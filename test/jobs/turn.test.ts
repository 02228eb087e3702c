import { beforeEach, expect, test } from 'vitest';
import type { Claim } from '../../lib/jobs/ledger/job-row.ts';
import type { SentAnswer } from '../../lib/jobs/ledger/ledger.ts';
import { createTurn, HandBackError, JobCancelledError, TurnLostError } from '../../lib/jobs/turn.ts';

const claim: Claim = {
  id: 'job-1',
  state: 'CLAIMED',
  fence: 1,
  leaseUntilMs: 100_000,
  attempts: 0,
  takeovers: 0,
  dt: '2026-11-21',
  createdAt: 0,
};
const sentClaim: Claim = { ...claim, state: 'SENT', attempts: 1 };

const now = { ms: 10_000 };

beforeEach(() => {
  now.ms = 10_000;
});

/** A turn over a ledger that returns these answers in order, and logs what was requested. */
function turnOver(answers: readonly (SentAnswer | Error)[], deadlineMs?: number, sentLastsMs?: number) {
  const log: string[] = [];
  const left = [...answers];
  const stop = new AbortController();
  let row = claim;
  const turn = createTurn({
    id: 'job-1',
    signal: stop.signal,
    deadlineMs,
    mustLastMs: 60_000,
    sentLastsMs,
    now: () => now.ms,
    held: {
      row: () => row,
      async sent() {
        log.push('sent');
        const answer = left.shift();
        if (answer instanceof Error) throw answer;
        if (answer?.kind === 'sent') row = answer.claim;
        return answer ?? { kind: 'lost', row: undefined };
      },
    },
  });
  return { turn, log, stop };
}

test('writes SENT once, however many calls a job makes', async () => {
  const { turn, log } = turnOver([{ kind: 'sent', claim: sentClaim }]);

  await Promise.all([turn.beforeSend(), turn.beforeSend()]);
  await turn.beforeSend();

  expect(log).toEqual(['sent']);
  expect(turn.attempts()).toBe(1);
});

test('sends nothing if SENT could not be written, and writes it again for the next call', async () => {
  const { turn, log } = turnOver([new Error('the table is unavailable'), { kind: 'sent', claim: sentClaim }]);

  await expect(turn.beforeSend()).rejects.toThrow('the table is unavailable');
  await turn.beforeSend();

  expect(log).toEqual(['sent', 'sent']);
});

test('lets the first request leave up to so long after SENT, and every other one at any time', async () => {
  const { turn } = turnOver([{ kind: 'sent', claim: sentClaim }], undefined, 2_000);
  await turn.beforeSend();
  now.ms += 2_001;
  expect(turn.onLeave).toThrow(HandBackError);
  expect(turn.hasLeft()).toBe(false);
  now.ms -= 1;

  turn.onLeave();
  now.ms += 60_000;
  await turn.beforeSend();
  turn.onLeave();

  expect(turn.hasLeft()).toBe(true);
});

test('sends nothing if the row that SENT was written over was cancelled', async () => {
  const { turn } = turnOver([{ kind: 'sent', claim: { ...sentClaim, cancelled: true } }]);
  await turn.beforeSend();

  expect(turn.onLeave).toThrow(JobCancelledError);
});

test('sends nothing if another worker has the job', async () => {
  const { turn } = turnOver([{ kind: 'lost', row: undefined }]);

  await expect(turn.beforeSend()).rejects.toBeInstanceOf(TurnLostError);
});

test('sends nothing that could outlast the lease or the deadline', async () => {
  const answer = { kind: 'too-late', leftMs: 5 } as const;
  await expect(turnOver([answer], 200_000).turn.beforeSend()).rejects.toBeInstanceOf(HandBackError);

  const { turn, log } = turnOver([{ kind: 'sent', claim: sentClaim }], 69_999);
  await expect(turn.beforeSend()).rejects.toThrow('59999 ms are left, and a send may take longer');
  expect(log).toEqual([]);
});

test('sends nothing once the lease is lost', async () => {
  const { turn, log, stop } = turnOver([{ kind: 'sent', claim: sentClaim }]);
  stop.abort(new Error('lease lost'));

  await expect(turn.beforeSend()).rejects.toThrow('lease lost');
  expect(log).toEqual([]);
});

test('checks the time again at the moment a call leaves, for its turn may have come late', async () => {
  const { turn } = turnOver([{ kind: 'sent', claim: sentClaim }], 70_000);
  await turn.beforeSend();
  turn.onLeave();

  now.ms = 10_001;

  expect(turn.onLeave).toThrow(HandBackError);
});

test('has sent nothing if its lease was lost before the request left', async () => {
  const { turn, stop } = turnOver([{ kind: 'sent', claim: sentClaim }]);
  await turn.beforeSend();
  stop.abort(new Error('the lease was lost'));

  expect(() => turn.onLeave()).toThrow('the lease was lost');

  expect(turn.hasLeft()).toBe(false);
});

test('says until when a send may start, if there is a deadline', () => {
  expect(turnOver([], 200_000).turn.lastSendMs).toBe(140_000);
  expect(turnOver([]).turn.lastSendMs).toBeUndefined();
});

test('looks whether its job was cancelled once three seconds have passed', async () => {
  const looks: number[] = [];
  const turn = createTurn({
    id: 'job-1',
    signal: new AbortController().signal,
    deadlineMs: undefined,
    mustLastMs: 1,
    now: () => now.ms,
    held: { row: () => sentClaim, sent: async () => ({ kind: 'sent', claim: sentClaim }) },
    isCancelled: async () => looks.push(now.ms) < 0,
  });

  for (const atMs of [12_999, 13_000, 15_999, 16_000]) {
    now.ms = atMs;
    await turn.beforeSend();
  }

  expect(looks).toEqual([13_000, 16_000]);
});

test('is ended on purpose by errors that the log shows without a stack', () => {
  const errors = [new HandBackError('x', 0), new TurnLostError('x'), new JobCancelledError('x')];

  expect(errors.map(({ isRefusal }) => isRefusal)).toEqual([true, true, true]);
});

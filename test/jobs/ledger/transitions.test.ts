import { describe, expect, test } from 'vitest';
import {
  type Claim,
  type EndedJobRow,
  isCancelled,
  type JobRow,
  type Outcome,
} from '../../../lib/jobs/ledger/job-row.ts';
import { decideCancel, decideReopen, decideResolve, mayPrune } from '../../../lib/jobs/ledger/ledger.ts';
import {
  type ClaimFacts,
  decideAnnounce,
  decideClaim,
  decideEnd,
  decideProgress,
  decideRelease,
  decideRenew,
  decideSent,
  neverSent,
} from '../../../lib/jobs/ledger/transitions.ts';

/* Each rule of the table at the top of `transitions.ts`: the decision of a step, and the row that it writes. */

const nowMs = 50_000;
const request = { id: 'a', type: 'run-function', contentHash: 'hash', sender: 'me' };
const done: Outcome = { status: 'done', response: '1' };
const failed: Outcome = { status: 'failed', error: { kind: 'status', message: 'a 400', status: 400 } };
const lostAnswer: Outcome = { status: 'unknown', error: { kind: 'answer-lost', message: '' } };

const free: JobRow = {
  ...request,
  state: 'CLAIMED',
  fence: 3,
  attempts: 0,
  takeovers: 0,
  dt: '2026-11-21',
  createdAt: 1,
  startedAt: 2,
};
const held: Claim = { ...free, state: 'CLAIMED', leaseUntilMs: 60_000 };
const expired: Claim = { ...held, leaseUntilMs: nowMs };
const sent: Claim = { ...held, state: 'SENT', attempts: 1, sentFence: 3 };
const sentAndExpired: Claim = { ...sent, leaseUntilMs: nowMs };
/** A free job whose send under fence 2 was cancelled before it left. */
const sentBefore: JobRow = { ...free, sentFence: 2, attempts: 1 };
const endedAs = (state: EndedJobRow['state'], outcome: Outcome): EndedJobRow => ({
  ...free,
  state,
  attempts: 1,
  finishedAt: 40_000,
  outcome,
});
const unknown = { ...endedAs('UNKNOWN', lostAnswer), sentFence: 3 };
const neverLeft = endedAs('FAILED', neverSent);

/** The decision with both members, also if nothing is written. */
const complete = <Answer>({ write, answer }: { readonly write?: JobRow; readonly answer: Answer }) => ({
  write,
  answer,
});

const sentBy = { id: 'a', createdAt: 1, fence: 3 };
const found = (outcome: Outcome | undefined, sent = sentBy) => ({ late: { sent, outcome } });
const claim = (row: JobRow | undefined, facts: Partial<ClaimFacts> = {}, asked = request) =>
  complete(decideClaim(row, asked, { leaseMs: 1_000, nowMs, ...facts }));

describe('a claim', () => {
  test('of a new job creates its row, with the day of the claim', () => {
    const { write, answer } = claim(undefined);

    const row = { ...request, state: 'CLAIMED', fence: 1, attempts: 0, takeovers: 0, dt: '1970-01-01' };
    expect(write).toStrictEqual({ ...row, createdAt: nowMs, startedAt: nowMs, leaseUntilMs: 51_000 });
    expect(answer).toEqual({ kind: 'claimed', claim: write });
  });

  test.each<[string, JobRow | undefined, Partial<ClaimFacts>, object]>([
    ['that is free', free, {}, { fence: 4, takeovers: 0, startedAt: 2, dt: '2026-11-21' }],
    ['whose lease expired', expired, {}, { fence: 4, takeovers: 1, attempts: 0, startedAt: 2 }],
    ['that was announced', { ...free, fence: 0 }, {}, { fence: 1 }],
    [
      'that was sent, and may be repeated',
      sentAndExpired,
      { mayRepeat: true, ...found(undefined) },
      { state: 'CLAIMED', fence: 4, takeovers: 1, attempts: 1, unsentAttempts: 1, sentFence: 3 },
    ],
    ['that is new, and is sent by the same write', undefined, { sends: true }, { attempts: 1, sentFence: 1 }],
    [
      'that was sent before, and is sent again by the same write',
      sentBefore,
      { sends: true, mayRepeat: true, ...found(undefined, { ...sentBy, fence: 2 }) },
      { state: 'SENT', fence: 4, attempts: 2, sentFence: 4, earlierSentFence: 2 },
    ],
    [
      'that was called unknown, and then proved never sent',
      neverLeft,
      {},
      { state: 'CLAIMED', fence: 4, attempts: 1, earlierFinishedAt: 40_000 },
    ],
  ])('takes a job %s', (_, row, facts, expected) => {
    const { write, answer } = claim(row, facts);

    expect(write).toMatchObject({ ...expected, leaseUntilMs: 51_000 });
    expect(answer).toEqual({ kind: 'claimed', claim: write });
    for (const name of ['outcome', 'finishedAt']) expect(write).not.toHaveProperty(name);
  });

  test.each<[string, JobRow, object]>([
    ['two workers died', { ...expired, takeovers: 1 }, { takeovers: 2 }],
    [
      'one that ran nothing else',
      { ...expired, takeovers: 3, isAlone: true },
      { takeovers: 4, deathsAlone: 1 },
    ],
    ['ten that ran other jobs too', { ...expired, takeovers: 9 }, { takeovers: 10 }],
  ])('by a worker that runs nothing else takes a job with which %s', (_, row, expected) => {
    const { write, answer } = claim(row, { isAlone: true });

    expect(write).toMatchObject(expected);
    expect(write?.isAlone).toBe(write !== undefined && write.takeovers >= 3 ? true : undefined);
    expect(answer.kind).toBe('claimed');
  });

  test.each<[string, JobRow, number]>([
    ['whose third worker died', { ...expired, takeovers: 2 }, 3],
    ['that was released after its third death', { ...free, takeovers: 3 }, 3],
    ['with which a worker died that ran nothing else', { ...expired, takeovers: 3, isAlone: true }, 4],
  ])('by a worker that runs other jobs does not take a job %s', (_, row, deaths) => {
    expect(claim(row)).toEqual({ write: undefined, answer: { kind: 'alone', deaths } });
  });

  test.each<[string, JobRow, Partial<ClaimFacts>, object]>([
    ['sent, and its lease expired', sentAndExpired, found(undefined), { state: 'UNKNOWN', attempts: 1 }],
    [
      'sent before, and free',
      sentBefore,
      found(undefined, { ...sentBy, fence: 2 }),
      { state: 'UNKNOWN', sentFence: 2, outcome: { error: { kind: 'answer-lost' } } },
    ],
    [
      'sent before, and its lease expired',
      { ...expired, sentFence: 2 },
      found(undefined, { ...sentBy, fence: 2 }),
      { state: 'UNKNOWN', sentFence: 2 },
    ],
    [
      'claimed by five workers that ran nothing else, and died',
      { ...expired, takeovers: 8, deathsAlone: 4, isAlone: true },
      { isAlone: true },
      {
        state: 'FAILED',
        outcome: {
          error: {
            kind: 'workers-died',
            message: '5 workers died one after another while they ran this job and nothing else',
          },
        },
      },
    ],
    [
      'sent, may be repeated, and was claimed by five workers that ran nothing else, and died',
      { ...sentAndExpired, takeovers: 8, deathsAlone: 4, isAlone: true },
      { mayRepeat: true, ...found(undefined) },
      { state: 'FAILED', outcome: { error: { kind: 'workers-died' } } },
    ],
    ['sent, and is found to be done', sentAndExpired, found(done), { state: 'DONE', outcome: done }],
    [
      'sent, may be repeated, and is found to be done',
      sentAndExpired,
      { mayRepeat: true, ...found(done) },
      { state: 'DONE', fence: 3 },
    ],
    [
      'sent, and is found to have failed',
      sentAndExpired,
      found(failed),
      { state: 'FAILED', outcome: failed },
    ],
    ['unknown, and is found to be done', unknown, found(done), { state: 'DONE', finishedAt: nowMs }],
    [
      'unknown, and is found never to have been sent',
      unknown,
      found(neverSent),
      { state: 'FAILED', attempts: 0, outcome: neverSent, finishedAt: nowMs },
    ],
  ])('ends a job that was %s', (_, row, facts, expected) => {
    const { write, answer } = claim(row, facts);

    expect(write).toMatchObject({ finishedAt: nowMs, ...expected });
    expect(write).not.toHaveProperty('leaseUntilMs');
    expect(answer).toEqual({ kind: 'ended', row: write });
  });

  const own: Claim = { ...sent, by: 'one' };
  test.each<[string, JobRow, Partial<ClaimFacts>, object]>([
    ['that another worker has', held, {}, { kind: 'busy', untilMs: 60_000 }],
    ['that was sent, though it may be repeated', sent, { mayRepeat: true }, { kind: 'busy' }],
    ['that another worker has, and without a name', held, { sends: true }, { kind: 'busy' }],
    ['that the same delivery sends, in a claim that does not send', own, { by: 'one' }, { kind: 'busy' }],
    ['that another delivery sends', own, { sends: true, by: 'two' }, { kind: 'busy' }],
    ['that the same delivery sends', own, { sends: true, by: 'one' }, { kind: 'claimed', claim: own }],
    ['that is done', { ...endedAs('DONE', done), sentFence: 3 }, {}, { kind: 'ended' }],
    ['that failed', { ...endedAs('FAILED', failed), sentFence: 3 }, {}, { kind: 'ended' }],
    ['that is unknown, if no outcome is found', unknown, found(undefined), { kind: 'ended', row: unknown }],
    ['that is unknown, and is found to have failed', unknown, found(failed), { kind: 'ended', row: unknown }],
    [
      'that a person has settled',
      { ...unknown, state: 'FAILED' },
      found(neverSent),
      { kind: 'ended', row: { state: 'FAILED' } },
    ],
    [
      'that was never sent, and cancelled since',
      { ...neverLeft, cancelled: true },
      {},
      { kind: 'ended', row: { cancelled: true } },
    ],
    ['that was sent, before its outcome is looked for', sentAndExpired, {}, { kind: 'look', sent: sentBy }],
    [
      'that was sent, if the outcome of another send was looked for',
      sentAndExpired,
      found(done, { ...sentBy, fence: 2 }),
      { kind: 'look', sent: sentBy },
    ],
    [
      'that was sent, if the outcome of an earlier job with its id was looked for',
      unknown,
      found(neverSent, { ...sentBy, createdAt: 0 }),
      { kind: 'look', sent: sentBy },
    ],
  ])('changes nothing of a job %s', (_, row, facts, expected) => {
    expect(claim(row, facts)).toMatchObject({ write: undefined, answer: expected });
  });

  test('of a job whose worker died before it sent a request counts no send', () => {
    expect(claim(expired).write).not.toHaveProperty('unsentAttempts');
  });

  test('does not end a job as failed that another worker has claimed since the send that failed', () => {
    const row: Claim = { ...expired, fence: 4, sentFence: 3 };

    expect(claim(row, { mayRepeat: true, ...found(failed) }).answer.kind).toBe('claimed');
  });

  test('with other content changes nothing, in any state of the job', () => {
    for (const row of [free, held, sentAndExpired, unknown, neverLeft])
      expect(claim(row, {}, { ...request, contentHash: 'other' })).toEqual({
        write: undefined,
        answer: { kind: 'other-content' },
      });
  });

  test('ends a job that was cancelled before its message arrived, whatever its content', () => {
    const { write = free } = decideCancel(undefined, { id: 'a', nowMs });

    expect(claim(write).answer).toMatchObject({ kind: 'ended', row: { ...request, state: 'FAILED' } });
  });
});

test('announcing a job stores who asked for a new one, and changes nothing if the job is known', () => {
  const { startedAt: _, ...announced } = { ...free, fence: 0, dt: '1970-01-01', createdAt: nowMs };

  expect(decideAnnounce(undefined, request, nowMs).write).toEqual(announced);
  expect(decideAnnounce(held, { ...request, sender: 'another' }, nowMs)).toEqual({ answer: undefined });
});

describe('a send', () => {
  test('is recorded by the worker that has the job', () => {
    const { write, answer } = complete(decideSent(held, held));

    expect(write).toStrictEqual({ ...held, state: 'SENT', attempts: 1, sentFence: 3 });
    expect(answer).toEqual({ kind: 'sent', claim: write });
  });

  test('whose write was stored counts as recorded, even if the lease has been renewed since', () => {
    const row = { ...sent, leaseUntilMs: 90_000 };

    expect(decideSent(row, held)).toEqual({ answer: { kind: 'sent', claim: row } });
  });

  test('is recorded together with a send of an earlier claim', () => {
    const { write } = decideSent({ ...held, sentFence: 2 }, held);

    expect(write).toMatchObject({ sentFence: 3, earlierSentFence: 2 });
  });
});

test('a lease can only be extended, and its holder can extend it even after it expired', () => {
  const renew = (row: JobRow, leaseMs: number) => decideRenew(row, held, { leaseMs, nowMs }).write;

  expect(renew(held, 20_000)).toEqual({ ...held, leaseUntilMs: 70_000 });
  expect(renew(sent, 1_000)).toEqual(sent);
  expect(renew(expired, 1_000)).toEqual({ ...held, leaseUntilMs: 51_000 });
});

describe('a release', () => {
  const release = (row: JobRow | undefined, options = {}, fence = 3) =>
    complete(decideRelease(row, { ...request, fence }, { ...options, nowMs }));
  const left = { requestSent: true };

  test.each<[string, Claim, object, object]>([
    ['that was not sent', held, {}, free],
    ['that was not sent, after a try', held, { counts: 'try' }, { ...free, unsentTries: 1 }],
    ['whose request never left', sent, { counts: 'try' }, { ...free, unsentTries: 1 }],
    ['that only waited', sent, { ...left, counts: 'nothing' }, free],
    ['whose request left', sent, { ...left, counts: 'attempt' }, { ...free, attempts: 1 }],
    [
      'whose request left, but executed nothing',
      { ...sent, unsentTries: 4, unsentAttempts: 2 },
      { ...left, counts: 'try' },
      { ...free, attempts: 1, unsentTries: 5, unsentAttempts: 3 },
    ],
    [
      'that was sent before',
      { ...sent, attempts: 2, earlierSentFence: 2 },
      {},
      { ...free, attempts: 1, sentFence: 2 },
    ],
    [
      'with which four workers died, by a worker that lives',
      { ...held, takeovers: 7, deathsAlone: 4, isAlone: true },
      {},
      { ...free, takeovers: 7 },
    ],
  ])('frees a job %s, and changes nothing when it is repeated', (_, row, options, expected) => {
    const { write, answer } = release(row, options);

    expect(write).toStrictEqual(expected);
    expect(answer).toEqual({ kind: 'released', row: write });
    expect(release(write, options)).toEqual({ write: undefined, answer });
  });

  test.each<[string, JobRow]>([
    ['that was called unknown', unknown],
    ['whose proof another worker has found meanwhile', neverLeft],
  ])('of a job %s asks the caller to store the proof that nothing was sent', (_, row) => {
    expect(release(row)).toEqual({ write: undefined, answer: { kind: 'called-unknown' } });
    expect(release(row, {}, 2).answer).toEqual({ kind: 'lost', row });
  });

  test.each<[string, JobRow, object?]>([
    ['that is unknown after a request that left', unknown, left],
    ['that is unknown after an earlier send', { ...unknown, sentFence: 2 }],
    ['that is unknown, and may have been sent before', { ...unknown, earlierSentFence: 2 }],
    ['that was never sent, and that a person has cancelled', { ...neverLeft, cancelled: true }],
    ['that a person has settled', { ...unknown, state: 'DONE', outcome: { status: 'done' } }],
    ['that has ended', endedAs('DONE', done)],
    ['that another worker has', { ...held, fence: 4 }],
    ['that is free, and that another worker had', { ...free, fence: 4 }],
  ])('of a job %s changes nothing, since the job is lost', (_, row, options) => {
    expect(release(row, options)).toEqual({ write: undefined, answer: { kind: 'lost', row } });
  });

  test.each([undefined, { ...free, fence: 2 }])(
    'that precedes the write of its claim rewrites the row that the claim would replace, so that the late claim fails: %o',
    (row) => {
      const { startedAt: _, ...blank } = { ...free, fence: 0, dt: '1970-01-01', createdAt: nowMs };

      const write = row ?? blank;

      expect(release(row)).toEqual({ write, answer: { kind: 'released', row: write } });
    },
  );
});

describe('an outcome', () => {
  const end = (row: JobRow | undefined, outcome = done, fence = 3) =>
    complete(decideEnd(row, { id: 'a', fence }, { outcome, nowMs }));

  test.each<[string, Claim, Outcome, object]>([
    ['is claimed', held, failed, { state: 'FAILED', attempts: 0 }],
    ['is sent', sent, done, { state: 'DONE', attempts: 1 }],
    ['is sent, and its lease expired', sentAndExpired, lostAnswer, { state: 'UNKNOWN' }],
    ['was cancelled, and failed', { ...sent, cancelled: true }, failed, { cancelled: true }],
    ['ended before, at a later time', { ...sent, earlierFinishedAt: nowMs }, done, { finishedAt: 50_001 }],
  ])('is written by the holder of a job that %s', (_, row, outcome, expected) => {
    const { write, answer } = end(row, outcome);

    expect(write).toMatchObject({ finishedAt: nowMs, ...expected, outcome });
    for (const name of ['leaseUntilMs', 'earlierFinishedAt']) expect(write).not.toHaveProperty(name);
    expect(answer).toEqual({ kind: 'ended', row: write });
  });

  test('of a job that a person has cancelled meanwhile does not record the cancellation if the job is done', () => {
    expect(end({ ...sent, cancelled: true }).write).not.toHaveProperty('cancelled');
  });

  test.each<[string, JobRow | undefined, Outcome, number, object]>([
    ['that is repeated', endedAs('DONE', done), done, 3, { kind: 'ended' }],
    [
      'that is repeated by the worker that sent the request',
      { ...endedAs('DONE', done), fence: 4, sentFence: 3 },
      done,
      3,
      { kind: 'ended' },
    ],
    ['that is repeated by another worker', endedAs('DONE', done), done, 2, { kind: 'lost' }],
    ['that differs from the recorded one', endedAs('DONE', done), failed, 3, { kind: 'lost' }],
    ['of a job without a row', undefined, done, 3, { kind: 'lost', row: undefined }],
    ['of a job that is free', free, done, 3, { kind: 'lost', row: free }],
    ['of a job that another worker has', held, done, 2, { kind: 'lost', row: held }],
    [
      'that is done, of an unknown job, by the worker that sent the request',
      unknown,
      done,
      3,
      { kind: 'called-unknown' },
    ],
    ['that is done, of an unknown job, by another worker', unknown, done, 2, { kind: 'lost' }],
    [
      'that is done, of an unknown job that was not sent',
      endedAs('UNKNOWN', lostAnswer),
      done,
      3,
      { kind: 'lost' },
    ],
    [
      'that is done, of a failed job, by who sent',
      { ...endedAs('FAILED', failed), sentFence: 3 },
      done,
      3,
      { kind: 'lost' },
    ],
    ['that failed, of an unknown job', unknown, failed, 3, { kind: 'lost' }],
  ])('%s changes nothing', (_, row, outcome, fence, expected) => {
    expect(end(row, outcome, fence)).toMatchObject({ write: undefined, answer: expected });
  });
});

describe('a cancellation', () => {
  const cancel = (row: JobRow | undefined, stops = false) =>
    complete(decideCancel(row, { id: 'a', nowMs, stops: () => stops }));
  const before = 'the job was cancelled before it was sent';

  test.each<[string, JobRow | undefined, boolean, string]>([
    ['that has not arrived', undefined, true, before],
    ['that is free', free, true, before],
    ['that was sent before', sentBefore, true, `${before} again`],
    ['whose lease expired', expired, true, before],
    ['that a worker has, and whose type cannot stop', held, false, before],
  ])('ends a job %s', (_, row, stops, message) => {
    const { write, answer } = cancel(row, stops);

    expect(write).toMatchObject({ id: 'a', state: 'FAILED', finishedAt: nowMs });
    expect(write?.outcome).toEqual({ status: 'failed', error: { kind: 'cancelled', message } });
    expect(answer).toEqual({ kind: 'cancelled', row: write });
  });

  test.each([held, sent, sentAndExpired])(
    'asks a job whose type can stop between sends to stop: %o',
    (row) => {
      const write = { ...row, cancelled: true };

      expect(cancel(row, true)).toEqual({ write, answer: { kind: 'stopping', row: write } });
    },
  );

  test('only marks a failed job', () => {
    const row = endedAs('FAILED', failed);
    const write = { ...row, cancelled: true };

    expect(cancel(row)).toEqual({ write, answer: { kind: 'cancelled', row: write } });
    expect(cancel(write)).toEqual({ write: undefined, answer: { kind: 'ended', row: write } });
  });

  test.each<[JobRow, string]>([
    [sent, 'sent'],
    [sentAndExpired, 'sent'],
    [endedAs('DONE', done), 'ended'],
    [unknown, 'ended'],
  ])('comes too late for %o', (row, kind) => {
    expect(cancel(row)).toEqual({ write: undefined, answer: { kind, row } });
  });

  test.each<[string, JobRow, boolean]>([
    [
      'cancelled before it was sent',
      endedAs('FAILED', { status: 'failed', error: { kind: 'cancelled', message: '' } }),
      true,
    ],
    ['cancelled after it had failed', { ...endedAs('FAILED', failed), cancelled: true }, true],
    ['cancelled while it runs', { ...sent, cancelled: true }, true],
    ['failed, but not cancelled', endedAs('FAILED', failed), false],
    ['ended, but not cancelled', endedAs('DONE', done), false],
    ['running, and not cancelled', sent, false],
  ])('by a person is recognized, or not, in a job that is %s', (_, row, expected) => {
    expect(isCancelled(row)).toBe(expected);
  });
});

describe('a reopening', () => {
  const row: EndedJobRow = {
    ...endedAs('FAILED', failed),
    sentFence: 3,
    earlierSentFence: 2,
    takeovers: 4,
    unsentAttempts: 1,
    unsentTries: 2,
  };
  const reopen = (given: JobRow | undefined, options = {}) => complete(decideReopen(given, options));

  test('begins the job again, with a higher fence and the same day', () => {
    const { startedAt: _, ...begun } = { ...free, fence: 4, earlierFinishedAt: 40_000 };

    expect(reopen(row)).toEqual({ write: begun, answer: { kind: 'reopened', row: begun } });
    expect(reopen(row, { anyOutcome: true }).write).not.toHaveProperty('contentHash');
  });

  test('of a cancelled job is refused unless its id was given', () => {
    const cancelled = { ...row, cancelled: true };

    expect(reopen(cancelled).answer).toEqual({ kind: 'refused', row: cancelled });
    expect(reopen(cancelled, { isNamed: true }).write).not.toHaveProperty('cancelled');
  });

  test.each<[JobRow | undefined]>([[undefined], [free], [held], [sent], [unknown], [endedAs('DONE', done)]])(
    'of a job that has not failed is refused: %o',
    (given) => {
      const answer = { kind: 'refused', row: given };

      expect(reopen(given, { isNamed: true })).toEqual({ write: undefined, answer });
    },
  );

  test('of a job that may be repeated is possible however it ended', () => {
    expect(reopen(endedAs('DONE', done), { anyOutcome: true }).answer.kind).toBe('reopened');
    expect(reopen(held, { anyOutcome: true }).answer.kind).toBe('refused');
  });
});

test('a job that was cancelled before its message arrived can be reopened, and its row has no unknown content', () => {
  const { write } = decideCancel(undefined, { id: 'a', nowMs });

  const { answer } = decideReopen(write, { isNamed: true });

  expect(answer.kind).toBe('reopened');
  expect(answer.row).not.toHaveProperty('contentHash');
});

test('an executed job is reopened only if that was requested', () => {
  const executed = endedAs('FAILED', { status: 'failed', error: { kind: 'execution', message: 'it threw' } });

  expect(decideReopen(executed, {}).answer.kind).toBe('refused');
  expect(decideReopen(executed, { executed: true }).answer.kind).toBe('reopened');
  expect(decideReopen(executed, { isNamed: true }).answer.kind).toBe('reopened');
});

const { type: _type, ...typeless } = endedAs('FAILED', failed);

test.each<[string, JobRow, boolean]>([
  ['done', endedAs('DONE', done), true],
  ['failed', endedAs('FAILED', failed), true],
  ['unknown', unknown, false],
  ['sent', sent, false],
  ['free', free, false],
  ['pruned', endedAs('DONE', { status: 'done', result: 'results/a.json' }), false],
  ['cancelled before its message arrived', typeless, false],
  ['never sent, and runs again', neverLeft, false],
])('whether a job that is %s may be pruned', (_, row, expected) => {
  expect(mayPrune(row)).toBe(expected);
});

describe('a person', () => {
  const resolve = (row: JobRow | undefined, status: 'done' | 'failed' = 'done') =>
    complete(decideResolve(row, { status, note: 'it ran', nowMs }));

  test.each([
    ['done', { status: 'done', note: 'it ran' }],
    ['failed', { status: 'failed', error: { kind: 'resolved', message: 'it ran' } }],
  ] as const)('settles an unknown job as %s, once', (status, outcome) => {
    const { write, answer } = resolve({ ...unknown, finishedAt: nowMs }, status);

    expect(write).toMatchObject({ finishedAt: nowMs + 1 });
    expect(write?.outcome).toEqual(outcome);
    expect(answer).toEqual({ kind: 'resolved', row: write });
    expect(resolve(write, status)).toEqual({ write: undefined, answer });
    expect(resolve(write, status === 'done' ? 'failed' : 'done').answer.kind).toBe('refused');
  });

  test.each<[JobRow | undefined]>([
    [undefined],
    [held],
    [endedAs('DONE', done)],
    [endedAs('FAILED', failed)],
  ])('cannot settle a job that is not unknown: %o', (row) => {
    expect(resolve(row)).toEqual({ write: undefined, answer: { kind: 'refused', row } });
  });
});

test('a step of a worker that no longer has the job is reported as lost, and changes nothing', () => {
  const [first, leaseMs] = [{ id: 'a', fence: 3 }, 1_000];

  for (const row of [undefined, free, { ...held, fence: 4 }, { ...held, by: 'another' }, unknown])
    for (const decision of [decideSent(row, first), decideRenew(row, first, { leaseMs, nowMs })])
      expect(decision).toEqual({ answer: { kind: 'lost', row } });
});

test('progress by its holder resets the job’s count of deaths', () => {
  const row: Claim = { ...sent, takeovers: 7, deathsAlone: 4, isAlone: true };

  const { write, answer } = complete(decideProgress(row, row));

  expect(write).toEqual({ ...sent, takeovers: 0 });
  expect(answer).toEqual({ kind: 'held', claim: write });
  expect(complete(decideProgress(row, { ...row, fence: 2 })).write).toBeUndefined();
});

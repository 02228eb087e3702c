import { describe, expect, test } from 'vitest';
import { afterFailure } from '../../lib/jobs/after-failure.ts';
import { JobLostError, JobRefusedError, RequeueError, UnfinishedError } from '../../lib/jobs/send-context.ts';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import { PlatformError } from '../../lib/platform/platform-error.ts';
import { StoreError } from '../../lib/store/error.ts';
import { TableError } from '../../lib/table/table-error.ts';

const context = { operation: 'runFunction', about: 'function score', attempts: 1 };
const platform = (failure: PlatformFailure) => new PlatformError(failure, context);
const facts = {
  attempts: 1,
  unsentAttempts: 0,
  unsentTries: 0,
  sinceClaimMs: 0,
  requestSent: true,
  mayRepeat: false,
  random: 0.5,
};
const HOUR_MS = 3_600_000;

const refused = platform({ kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' });
const cut = platform({ kind: 'cut', detail: 'ended early' });

describe('a send that may not be repeated', () => {
  test.each<[string, PlatformFailure]>([
    ['a lost response', { kind: 'connection', phase: 'exchange', code: 'ECONNRESET' }],
    ['a time-out', { kind: 'timeout', timeoutMs: 330_000, phase: 'exchange' }],
    ['a 500', { kind: 'status', status: 500 }],
    ['a 502', { kind: 'status', status: 502 }],
    ['a 408', { kind: 'status', status: 408 }],
    ['a 425', { kind: 'status', status: 425 }],
    ['a 444', { kind: 'status', status: 444 }],
    ['a 460', { kind: 'status', status: 460 }],
    ['a 499', { kind: 'status', status: 499 }],
    ['a part of a response', { kind: 'status', status: 206 }],
    ['a body that was cut', { kind: 'cut', detail: 'ended early' }],
    ['a login page', { kind: 'not-json', status: 200, contentType: 'text/html' }],
    ['a page that is not found', { kind: 'not-json', status: 404, contentType: 'text/html' }],
    ['a redirect', { kind: 'redirect', status: 303, to: '/blocked' }],
  ])('ends as unknown after %s, and is not sent again', (_, failure) => {
    expect(afterFailure({ ...facts, error: platform(failure) })).toMatchObject({
      kind: 'end',
      outcome: { status: 'unknown', error: { kind: failure.kind } },
    });
  });

  test.each([400, 403, 404, 409, 413, 422])('fails after a %s, since the platform did respond', (status) => {
    expect(afterFailure({ ...facts, error: platform({ kind: 'status', status }) })).toMatchObject({
      kind: 'end',
      outcome: { status: 'failed', error: { kind: 'status', status } },
    });
  });

  test.each<[string, PlatformFailure]>([
    ['no connection', { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' }],
    ['a name that did not resolve', { kind: 'connection', phase: 'resolve', code: 'EAI_AGAIN' }],
    ['a TLS failure', { kind: 'connection', phase: 'tls', code: 'ECONNRESET' }],
    ['a 401', { kind: 'status', status: 401 }],
    ['a 429', { kind: 'status', status: 429 }],
  ])('is retried after %s, and that counts as a try that executed nothing', (_, failure) => {
    expect(afterFailure({ ...facts, error: platform(failure) })).toEqual({
      kind: 'later',
      delayMs: 1_000,
      counts: 'try',
    });
  });

  test('is retried for 12 hours if it never arrived, at least every minute', () => {
    const decide = (unsentTries: number, sinceClaimMs: number) =>
      afterFailure({ ...facts, unsentTries, sinceClaimMs, error: refused });

    expect(decide(5, 60_000)).toEqual({ kind: 'later', delayMs: 30_000, counts: 'try' });
    expect(decide(700, 12 * HOUR_MS - 1)).toEqual({ kind: 'later', delayMs: 30_000, counts: 'try' });
    expect(decide(700, 12 * HOUR_MS)).toMatchObject({
      kind: 'end',
      outcome: { status: 'failed', error: { kind: 'connection' } },
    });
  });

  test('has retries left even after days, if it was tried fewer than 47 times', () => {
    const decide = (unsentTries: number) =>
      afterFailure({ ...facts, unsentTries, sinceClaimMs: 60 * HOUR_MS, error: refused });

    expect(decide(46)).toMatchObject({ kind: 'later' });
    expect(decide(47)).toMatchObject({ kind: 'end', outcome: { status: 'failed' } });
  });

  test('ends as unknown if platform-sync itself fails after sending, and is retried if it fails before', () => {
    const error = new Error('the store is unavailable');

    expect(afterFailure({ ...facts, error })).toMatchObject({ kind: 'end', outcome: { status: 'unknown' } });
    expect(afterFailure({ ...facts, error, requestSent: false })).toMatchObject({
      kind: 'later',
      counts: 'try',
    });
  });
});

describe('a send that may be repeated', () => {
  test('is retried after a 408: the request may not have been read to its end', () => {
    const error = platform({ kind: 'status', status: 408 });

    expect(afterFailure({ ...facts, mayRepeat: true, error })).toEqual({
      kind: 'later',
      delayMs: 1_000,
      counts: 'attempt',
    });
  });

  test('is retried after a lost response, with a growing delay, and fails at the fifth attempt', () => {
    const decide = (attempts: number) => afterFailure({ ...facts, mayRepeat: true, attempts, error: cut });

    expect([1, 2, 3, 4].map(decide)).toEqual(
      [1_000, 2_000, 4_000, 8_000].map((delayMs) => ({ kind: 'later', delayMs, counts: 'attempt' })),
    );
    expect(decide(5)).toMatchObject({ kind: 'end', outcome: { status: 'failed' } });
  });

  test('gets five attempts that may have executed; attempts that certainly did not execute are not counted', () => {
    const decide = (unsentAttempts: number) =>
      afterFailure({ ...facts, mayRepeat: true, attempts: 40, unsentAttempts, error: cut });

    expect(decide(36)).toMatchObject({ kind: 'later', counts: 'attempt' });
    expect(decide(35)).toMatchObject({ kind: 'end', outcome: { status: 'failed' } });
  });

  test('ends after a fault of platform-sync itself, but not while the table or the store is unavailable', () => {
    const decide = (error: unknown) => afterFailure({ ...facts, mayRepeat: true, attempts: 5, error });
    const unavailable = { kind: 'unreachable', code: 'ECONNREFUSED' } as const;

    expect(decide(new TypeError('a fault'))).toMatchObject({ kind: 'end', outcome: { status: 'failed' } });
    expect(decide(new TableError('get a row', unavailable))).toMatchObject({ kind: 'later', counts: 'try' });
    expect(decide(new StoreError('put a part', unavailable))).toMatchObject({ kind: 'later', counts: 'try' });
  });
});

test('an attempt during an outage does not count towards the five attempts; a job that must not be sent twice still ends as unknown', () => {
  const error = platform({ kind: 'status', status: 503 });
  const decide = (mayRepeat: boolean, isUnavailable: boolean) =>
    afterFailure({ ...facts, attempts: 5, mayRepeat, isUnavailable, error });

  expect(decide(true, true)).toMatchObject({ kind: 'later', counts: 'try' });
  expect(decide(true, false)).toMatchObject({ kind: 'end', outcome: { status: 'failed' } });
  expect(decide(false, true)).toMatchObject({ kind: 'end', outcome: { status: 'unknown' } });
});

const after = (status: number, retryAfterMs: number) => platform({ kind: 'status', status, retryAfterMs });

test.each<[string, Partial<typeof facts>, Error, number, string]>([
  ['as Retry-After says', {}, after(429, 60_000), 60_000, 'try'],
  ['15 minutes later at most', { mayRepeat: true }, after(429, 86_400_000), 900_000, 'try'],
  ['15 minutes later at most, after a 503', { mayRepeat: true }, after(503, 86_400_000), 900_000, 'attempt'],
  ['after a long wait', {}, platform({ kind: 'wait', waitMs: 45_000, maxWaitMs: 20_000 }), 45_000, 'nothing'],
  ['if it cannot continue here and now', {}, new RequeueError('too late', 1_500), 1_500, 'nothing'],
])('a job is retried %s', (_, differences, error, delayMs, counts) => {
  expect(afterFailure({ ...facts, ...differences, error })).toEqual({ kind: 'later', delayMs, counts });
});

test('a job that a person cancelled ends as cancelled, even if it had sent', () => {
  const error = new JobRefusedError('cancelled', 'cancelled by a person while it was running');

  expect(afterFailure({ ...facts, error })).toEqual({
    kind: 'end',
    outcome: { status: 'failed', error: { kind: 'cancelled', message: error.message } },
  });
});

test('an outcome reports the error: its kind and message, and what else is known about it', () => {
  const errorIn = (error: unknown) => {
    const after = afterFailure({ ...facts, error });
    return after.kind === 'end' ? after.outcome.error : undefined;
  };
  const withReference = platform({ kind: 'status', status: 403, reference: 'r-1' });
  const without = platform({ kind: 'status', status: 403 });

  expect(errorIn(new TypeError('a fault'))).toStrictEqual({ kind: 'internal', message: 'a fault' });
  expect(errorIn(cut)).toStrictEqual({ kind: 'cut', message: cut.message });
  expect(errorIn(without)).toStrictEqual({ kind: 'status', message: without.message, status: 403 });
  expect(errorIn(withReference)).toStrictEqual({
    kind: 'status',
    message: withReference.message,
    status: 403,
    reference: 'r-1',
  });
});

test('a job that another worker has is not touched', () => {
  expect(afterFailure({ ...facts, error: new JobLostError('lost') })).toEqual({ kind: 'leave' });
});

test('invalid input and a changed calculation are failures', () => {
  const wrong = platform({ kind: 'input', faults: ['path.version: expected text'] });

  expect(afterFailure({ ...facts, error: wrong })).toMatchObject({ outcome: { error: { kind: 'input' } } });
  expect(afterFailure({ ...facts, error: new JobRefusedError('changed', 'it was changed') })).toMatchObject({
    outcome: { status: 'failed', error: { kind: 'changed', message: 'it was changed' } },
  });
});

describe('a partly executed job', () => {
  const part = (cause: unknown) => new UnfinishedError(cause, '{"calls":7}');

  test('ends as the cause of its error says, and its outcome has what was done', () => {
    const error = part(platform({ kind: 'status', status: 403 }));

    expect(afterFailure({ ...facts, error })).toMatchObject({
      kind: 'end',
      outcome: { status: 'failed', response: '{"calls":7}', error: { status: 403 } },
    });
  });

  test.each([new JobLostError('another worker has it'), new RequeueError('wait', 1_500), refused])(
    'is requeued as the cause of its error says: %s',
    (cause) => {
      expect(afterFailure({ ...facts, error: part(cause) })).toEqual(
        afterFailure({ ...facts, error: cause }),
      );
    },
  );
});

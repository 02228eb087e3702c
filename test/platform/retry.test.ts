import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import { decideRetry, defaultRetryLimits } from '../../lib/platform/retry.ts';

const limits = defaultRetryLimits;

const decide = (failure: PlatformFailure, facts: Partial<Parameters<typeof decideRetry>[0]> = {}) =>
  decideRetry({ failure, mayRepeat: true, attempt: 1, elapsedMs: 0, random: 0.5, limits, ...facts });

const status = (code: number): PlatformFailure => ({ kind: 'status', status: code });
const lost: PlatformFailure = { kind: 'connection', phase: 'exchange', code: 'ECONNRESET' };

const refusedByProxy = (proxyStatus: number): PlatformFailure => ({
  kind: 'connection',
  phase: 'connect',
  code: 'ERR_PROXY_TUNNEL',
  proxyStatus,
});

const unreached: PlatformFailure = { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' };

const phase = fc.constantFrom('resolve', 'connect', 'tls', 'exchange');
const code = fc.constantFrom('ECONNRESET', 'ECONNREFUSED', 'ENOTFOUND', 'EPROTO', 'CERT_HAS_EXPIRED');
const retryAfterMs = fc.option(fc.integer({ min: 0, max: 400_000 }), { nil: undefined });
const withRetryAfter = (code: number, afterMs: number | undefined): PlatformFailure =>
  afterMs === undefined ? status(code) : { kind: 'status', status: code, retryAfterMs: afterMs };

const sentFailure: fc.Arbitrary<PlatformFailure> = fc.oneof(
  fc
    .tuple(
      fc.integer({ min: 400, max: 599 }).filter((each) => each !== 401 && each !== 429),
      retryAfterMs,
    )
    .map(([each, afterMs]) => withRetryAfter(each, afterMs)),
  fc.constantFrom<PlatformFailure>(
    { kind: 'redirect', status: 303, to: 'https://other.invalid/' },
    { kind: 'not-json', status: 200, contentType: 'text/html' },
    { kind: 'cut', detail: '5 bytes received' },
    { kind: 'too-large', maxBytes: 5 },
    { kind: 'timeout', timeoutMs: 5, phase: 'exchange' },
    { kind: 'shape', faults: ['name: expected text, got nothing'] },
    { kind: 'endless', pages: 5 },
  ),
  code.map((each): PlatformFailure => ({ kind: 'connection', phase: 'exchange', code: each })),
);
const anyFailure: fc.Arbitrary<PlatformFailure> = fc.oneof(
  sentFailure,
  fc.tuple(fc.constantFrom(401, 429), retryAfterMs).map(([each, afterMs]) => withRetryAfter(each, afterMs)),
  fc.constantFrom<PlatformFailure>(
    { kind: 'input', faults: ['limit: expected a whole number'] },
    { kind: 'wait', waitMs: 7_000, maxWaitMs: 1_000 },
  ),
  phase.map((each): PlatformFailure => ({ kind: 'timeout', timeoutMs: 5, phase: each })),
  fc.tuple(phase, code).map(([at, each]): PlatformFailure => ({ kind: 'connection', phase: at, code: each })),
);
const anyFacts = fc.record({
  mayRepeat: fc.boolean(),
  attempt: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 5_000 })),
  elapsedMs: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 400_000, noNaN: true })),
  random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

describe('for any failure, attempt and time', () => {
  test('a call that may not be repeated is not retried once the request has left', () => {
    fc.assert(
      fc.property(sentFailure, anyFacts, (failure, facts) => {
        expect(decide(failure, { ...facts, mayRepeat: false }).kind).toBe('stop');
      }),
    );
  });

  test('a wait that would end beyond the time budget is not begun', () => {
    fc.assert(
      fc.property(anyFailure, anyFacts, (failure, facts) => {
        const decision = decide(failure, facts);

        const endMs = decision.kind === 'retry' ? facts.elapsedMs + decision.delayMs : 0;
        expect(endMs).toBeLessThanOrEqual(limits.budgetMs);
      }),
    );
  });

  test('a wait is an integer number of milliseconds under a ceiling that doubles', () => {
    const withoutDelay = fc.constantFrom(status(503), lost, status(429));

    fc.assert(
      fc.property(withoutDelay, anyFacts, (failure, facts) => {
        const decision = decide(failure, { ...facts, elapsedMs: 0 });

        const delayMs = decision.kind === 'retry' ? decision.delayMs : 0;
        expect(Number.isInteger(delayMs)).toBe(true);
        expect(delayMs).toBeGreaterThanOrEqual(0);
        expect(delayMs).toBeLessThanOrEqual(Math.min(20_000, 250 * 2 ** (facts.attempt - 1)));
      }),
    );
  });

  test('a delay requested by the platform takes precedence over backoff', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(429, 500, 503),
        fc.integer({ min: 0, max: 300_000 }),
        fc.integer({ min: 1, max: 8 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (each, afterMs, attempt, random) => {
          expect(decide(withRetryAfter(each, afterMs), { attempt, random })).toEqual({
            kind: 'retry',
            delayMs: afterMs,
          });
        },
      ),
    );
  });
});

describe('the retry policy:', () => {
  test.for<readonly [string, PlatformFailure]>([
    ['500', status(500)],
    ['502', status(502)],
    ['503', status(503)],
    ['504', status(504)],
    ...[408, 425, 444, 460, 499, 520, 530].map((code) => [`${code}`, status(code)] as const),
    ['a broken connection', lost],
    ['a time-out', { kind: 'timeout', timeoutMs: 5, phase: 'exchange' }],
    ['a body that is cut off', { kind: 'cut', detail: '5 bytes received' }],
  ])('%s is retried if a repeat does no harm, up to 8 times', ([, failure]) => {
    expect(decide(failure, { attempt: 8 }).kind).toBe('retry');
    expect(decide(failure, { attempt: 9 })).toEqual({ kind: 'stop', why: 'exhausted' });
    expect(decide(failure, { mayRepeat: false })).toEqual({ kind: 'stop', why: 'harmful' });
  });

  test.for<readonly [string, PlatformFailure]>([
    ['a redirect', { kind: 'redirect', status: 303, to: 'https://other.invalid/' }],
    ['an error with the status of a success', status(200)],
    ['a page', { kind: 'not-json', status: 200, contentType: 'text/html' }],
  ])('%s may be temporary, and is retried up to 4 times', ([, failure]) => {
    expect(decide(failure, { attempt: 4 }).kind).toBe('retry');
    expect(decide(failure, { attempt: 5 })).toEqual({ kind: 'stop', why: 'exhausted' });
    expect(decide(failure, { mayRepeat: false })).toEqual({ kind: 'stop', why: 'harmful' });
  });

  test.for<readonly [string, PlatformFailure]>([
    ['401', status(401)],
    ['403', status(403)],
    ['404', status(404)],
    ['413', status(413)],
    ['422', status(422)],
    ['a refused input', { kind: 'input', faults: [] }],
    ['a response that is too large', { kind: 'too-large', maxBytes: 5 }],
    ['a response of another shape', { kind: 'shape', faults: [] }],
    ['an endless list', { kind: 'endless', pages: 5 }],
    ['a permanent redirect', { kind: 'redirect', status: 301, to: 'https://other.invalid/' }],
    ['a permanent redirect of a POST', { kind: 'redirect', status: 308, to: 'https://other.invalid/' }],
    ['a response that was not modified', { kind: 'redirect', status: 304, to: 'nowhere' }],
    ['407', status(407)],
    ['a proxy that wants a password', refusedByProxy(407)],
    ['a proxy that redirects', refusedByProxy(302)],
    ['an invalid certificate', { kind: 'connection', phase: 'tls', code: 'CERT_HAS_EXPIRED' }],
  ])('%s is permanent', ([, failure]) => {
    expect(decide(failure)).toEqual({ kind: 'stop', why: 'permanent' });
  });

  test.for<readonly [string, PlatformFailure]>([
    ...[408, 429, 500, 502, 503].map(
      (proxyStatus) => [`a proxy that responds with ${proxyStatus}`, refusedByProxy(proxyStatus)] as const,
    ),
    ['a handshake that breaks', { kind: 'connection', phase: 'tls', code: 'ECONNRESET' }],
    ['a handshake that takes too long', { kind: 'timeout', timeoutMs: 5, phase: 'tls' }],
  ])('%s is retried up to 8 times, since nothing was sent', ([, failure]) => {
    expect(decide(failure, { attempt: 8, mayRepeat: false }).kind).toBe('retry');
    expect(decide(failure, { attempt: 9, mayRepeat: false })).toEqual({ kind: 'stop', why: 'exhausted' });
  });

  test('a name that cannot be resolved is retried only up to 4 times, since the address is probably wrong', () => {
    const unknown: PlatformFailure = { kind: 'connection', phase: 'resolve', code: 'ENOTFOUND' };

    expect(decide(unknown, { attempt: 4, mayRepeat: false }).kind).toBe('retry');
    expect(decide(unknown, { attempt: 5, mayRepeat: false })).toEqual({ kind: 'stop', why: 'exhausted' });
  });

  test('a wait may end exactly when the time budget ends, but not after it', () => {
    const busy: PlatformFailure = { kind: 'status', status: 429, retryAfterMs: 100_000 };

    expect(decide(busy, { elapsedMs: 200_000 })).toEqual({ kind: 'retry', delayMs: 100_000 });
    expect(decide(busy, { elapsedMs: 200_001 })).toEqual({ kind: 'stop', why: 'over-budget' });
  });
});

describe('a platform that a person is waiting for', () => {
  const waited = { ...limits, unreachedMs: 8_000 };

  test('is given up soon if no connection has ever succeeded', () => {
    const facts = { limits: waited, wasReached: false, elapsedMs: 7_990 };

    expect(decide(unreached, facts)).toEqual({ kind: 'stop', why: 'over-budget' });
    expect(decide({ kind: 'timeout', timeoutMs: 8_000, phase: 'tls' }, facts)).toMatchObject({
      kind: 'stop',
    });
    expect(decide(unreached, { ...facts, elapsedMs: 1_000 })).toMatchObject({ kind: 'retry' });
  });

  test.each<[string, PlatformFailure, boolean | undefined]>([
    ['was connected to before', unreached, true],
    ['may have been connected to before', unreached, undefined],
    ['responds that it is unavailable', status(503), false],
    ['is behind a proxy that responds', refusedByProxy(503), false],
    ['is waited for because of the pace', { kind: 'wait', waitMs: 60_000, maxWaitMs: 20_000 }, false],
    ['breaks the connection', lost, false],
  ])('is retried as usual if it %s', (_, failure, wasReached) => {
    const known = wasReached === undefined ? {} : { wasReached };

    expect(decide(failure, { limits: waited, ...known, elapsedMs: 60_000 }).kind).toBe('retry');
  });
});

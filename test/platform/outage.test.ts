import { describe, expect, test } from 'vitest';
import type { CallOutcome } from '../../lib/pace/breaker.ts';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import { callOutcome, probePlatform } from '../../lib/platform/outage.ts';
import { fakeCall, lost, ok, type Scripted, status } from './fake-call.ts';

describe('the outcome of a call, for the breaker,', () => {
  test('is a response if the call succeeded', () => {
    expect(callOutcome(undefined)).toBe('answered');
  });

  test.each<[PlatformFailure, CallOutcome]>([
    [{ kind: 'status', status: 400 }, 'answered'],
    [{ kind: 'status', status: 408 }, 'answered'],
    [{ kind: 'shape', faults: [] }, 'answered'],
    [{ kind: 'too-large', maxBytes: 1 }, 'answered'],
    [{ kind: 'status', status: 401 }, 'refused token'],
    [{ kind: 'status', status: 500 }, 'server errors'],
    [{ kind: 'status', status: 503 }, 'server errors'],
    [{ kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' }, 'unreachable'],
    [{ kind: 'timeout', timeoutMs: 1, phase: 'exchange' }, 'unreachable'],
    [{ kind: 'redirect', status: 302, to: '/login' }, 'not the platform'],
    [{ kind: 'not-json', status: 200, contentType: 'text/html' }, 'not the platform'],
    [{ kind: 'status', status: 429 }, 'neither'],
    [{ kind: 'cut', detail: 'ended early' }, 'unreachable'],
    [{ kind: 'endless', pages: 3 }, 'neither'],
    [{ kind: 'wait', waitMs: 2, maxWaitMs: 1 }, 'neither'],
    [{ kind: 'input', faults: [] }, 'neither'],
  ])('after %o is: %s', (failure, outcome) => {
    expect(callOutcome(failure)).toBe(outcome);
  });
});

describe('a probe', () => {
  const page = ok({ entities: [], total: 0 });

  test.each<[string, Scripted, CallOutcome]>([
    ['a page', page, 'answered'],
    ['a refusal', status(403), 'answered'],
    ['a 503', status(503), 'server errors'],
    ['no response', lost, 'unreachable'],
    ['a fault of ours', () => Promise.reject(new TypeError('a fault')), 'neither'],
  ])(
    'reads one calculation, only once and for at most 20 s, whatever the platform returns: %s',
    async (_, response, outcome) => {
      const fake = fakeCall([response, page]);

      expect(await probePlatform(fake.call)).toBe(outcome);
      expect(fake.sent).toHaveLength(1);
      expect(fake.sent[0]?.request).toMatchObject({ timeoutMs: 20_000 });
      expect(JSON.parse(fake.sent[0]?.request.body ?? '')).toMatchObject({
        limit: 1,
        sort: { field: 'id', ascending: true },
      });
    },
  );
});

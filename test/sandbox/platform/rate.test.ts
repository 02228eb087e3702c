import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSlidingWindow } from '../../../lib/sandbox/platform/options.ts';
import { type Call, call, smallPlatform } from './call-platform.ts';

const path = '/api/query/v1/functions/search';
const body = { filters: [], sort: { field: 'id', ascending: true }, limit: 1 };

describe('the sliding window', () => {
  test('says how long a refused request must wait', () => {
    const window = createSlidingWindow(1);
    window.arrive(500);

    expect(window.arrive(700)).toEqual({ kind: 'refused', waitMs: 800 });
    expect(window.arrive(1500)).toEqual({ kind: 'admitted' });
  });

  test('never admits more than ceil(rate) requests in any window, and refuses only when it is full', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 200 });

    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 20, noNaN: true }), gaps, (rate, waits) => {
        const window = createSlidingWindow(rate);
        const most = Math.ceil(rate);
        const windowMs = (most / rate) * 1000;
        const admitted: number[] = [];
        let atMs = 0;
        for (const wait of waits) {
          atMs += wait;
          const recent = admitted.filter((each) => each > atMs - windowMs).length;
          const { kind } = window.arrive(atMs);
          expect(kind).toBe(recent < most ? 'admitted' : 'refused');
          if (kind === 'admitted') admitted.push(atMs);
        }
      }),
    );
  });
});

describe('the rate of the platform:', () => {
  test('requests over the rate get 429, in turn with seconds, a date or nothing in `Retry-After`', async () => {
    const platform = smallPlatform({ rate: 1, monotonicNow: () => 0, now: () => Date.UTC(2026, 0, 1) });

    const responses = [];
    for (let request = 0; request < 5; request += 1) responses.push(await call(platform, { path, body }));

    expect(responses.map(({ status }) => status)).toEqual([200, 429, 429, 429, 429]);
    expect(responses.map(({ headers }) => headers.get('retry-after'))).toEqual([
      null,
      '1',
      'Thu, 01 Jan 2026 00:00:01 GMT',
      null,
      '1',
    ]);
  });

  test.each([
    ['seconds', ['1', '1']],
    ['date', ['Thu, 01 Jan 2026 00:00:01 GMT', 'Thu, 01 Jan 2026 00:00:01 GMT']],
    ['absent', [null, null]],
  ] as const)('Retry-After can be %s every time', async (retryAfter, expected) => {
    const platform = smallPlatform({
      rate: 1,
      retryAfter,
      monotonicNow: () => 0,
      now: () => Date.UTC(2026, 0, 1),
    });
    await call(platform, { path, body });

    const one = await call(platform, { path, body });
    const two = await call(platform, { path, body });

    expect([one, two].map(({ headers }) => headers.get('retry-after'))).toEqual(expected);
  });

  test('a refused request does no work', async () => {
    const platform = smallPlatform({ rate: 1, monotonicNow: () => 0 });
    const { id } = platform.state.calculations.at(0);
    await call(platform, { path, body });

    const { status } = await call(platform, {
      path: `/api/query/v1/functions/template/${id}`,
      body: { expression: '1' },
    });

    expect(status).toBe(429);
    expect(platform.counts().formulaUpdates).toEqual({});
  });

  test('the rate of arrivals is counted both with and without refused requests', async () => {
    let nowMs = 0;
    const platform = smallPlatform({ rate: 2, monotonicNow: () => nowMs });

    for (const atMs of [0, 100, 200, 300, 1050, 1099]) {
      nowMs = atMs;
      await call(platform, { path, body });
    }

    expect(platform.counts()).toMatchObject({
      requests: 6,
      mostInOneSecond: 5,
      mostAdmittedInOneSecond: 2,
      byOperation: { searchCalculations: { 200: 3, 429: 3 } },
    });
  });
});

describe('a limit', () => {
  const scoring = {
    path: '/api/ai/v1/targeted-sentiment',
    body: { input: [{ type: 'TEXT', text: 'fine' }], simpleSentiment: true },
  };
  const statusesOf = async (
    limits: readonly string[],
    times: readonly number[],
    request: Call = { path, body },
  ) => {
    let nowMs = 0;
    const platform = smallPlatform({ limits: [...limits], monotonicNow: () => nowMs });
    const statuses: number[] = [];
    for (nowMs of times) statuses.push((await call(platform, request)).status);
    return statuses;
  };

  test('of one second slides, and a limit of one minute starts at each full minute', async () => {
    expect(await statusesOf(['2/s'], [0, 900, 950, 1_000])).toEqual([200, 200, 429, 200]);
    expect(await statusesOf(['2/min'], [0, 59_000, 59_500, 60_000])).toEqual([200, 200, 429, 200]);
    expect(await statusesOf(['1/h'], [0, 3_599_000, 3_600_000])).toEqual([200, 429, 200]);
  });

  test('of one operation does not affect other operations, and a limit of 0 refuses all calls', async () => {
    expect(await statusesOf(['score=0/s'], [0, 60_000], scoring)).toEqual([429, 429]);
    expect(await statusesOf(['score=0/s'], [0, 0])).toEqual([200, 200]);
  });

  test.each(['6', '6/day', 'scores=6/s', '-1/s'])('cannot be %s', (limit) => {
    expect(() => smallPlatform({ limits: [limit] })).toThrow(/limits.*REQUESTS\/s/);
  });
});

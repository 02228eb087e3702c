import { describe, expect, test } from 'vitest';
import { probed, rateOf, refused, reopened, restartIfIdle } from '../../lib/pace/throttle-state.ts';
import { createFixedWindow, createSlidingWindow } from '../../lib/sandbox/platform/options.ts';
import { learnedTo, refusedAt } from './throttled.ts';

const HOUR = 3_600_000;

type Plan = {
  readonly cap: number;
  readonly hours: number;
  readonly limiter: (atMs: number) => Pick<ReturnType<typeof createSlidingWindow>, 'arrive'>;
  readonly says: 'Retry-After' | 'nothing';
};

/** Simulates one line in constant use, with responses after 80 ms. Returns which calls were admitted, and when. */
function runLine({ cap, hours, limiter, says }: Plan) {
  const calls: { readonly atMs: number; readonly admitted: boolean }[] = [];
  const underWay: { readonly atMs: number; readonly answer: () => void }[] = [];
  let state = undefined as NonNullable<Parameters<typeof rateOf>[0]> | undefined;
  let [nowMs, nextMs, incidents] = [0, 0, 0];
  const facts = () => ({ cap, nowMs, granted: calls.length });
  const send = () => {
    const sent = { leftMs: nowMs, incidents };
    const decision = limiter(nowMs).arrive(nowMs);
    calls.push({ atMs: nowMs, admitted: decision.kind === 'admitted' });
    const answer = () => {
      if (sent.incidents !== incidents) return;
      if (decision.kind === 'admitted') {
        if (state?.kind !== 'refused') return;
        state = reopened(probed(state, sent.leftMs, 1_000) as typeof state, facts());
        nextMs = Math.max(nowMs, sent.leftMs + 1_000 / state.rate);
        return;
      }
      incidents += 1;
      const retryAfterMs = says === 'nothing' ? undefined : Math.ceil(decision.waitMs / 1_000) * 1_000;
      state = refused(state, { ...facts(), retryAfterMs });
      nextMs = state.kind === 'refused' ? state.nextMs : nextMs;
    };
    underWay.push({ atMs: nowMs + 80, answer });
  };
  while (nowMs < hours * HOUR) {
    const [answered] = underWay;
    if (answered !== undefined && (answered.atMs <= nextMs || state?.kind === 'refused')) {
      underWay.shift();
      nowMs = Math.max(nowMs, answered.atMs);
      answered.answer();
      continue;
    }
    nowMs = Math.max(nowMs, nextMs);
    send();
    nextMs = nowMs + 1_000 / rateOf(state, facts());
  }
  return calls;
}

function usedOf(
  calls: ReturnType<typeof runLine>,
  limit: number,
  [fromMs, untilMs]: readonly [number, number],
) {
  const within = calls.filter(({ atMs }) => atMs >= fromMs && atMs < untilMs);
  const admitted = within.filter((call) => call.admitted).length;
  return { used: admitted / ((limit * (untilMs - fromMs)) / 1_000), refused: 1 - admitted / within.length };
}

describe('over a whole day', () => {
  test.each([
    ['1 in any second', 1, () => createSlidingWindow(1)],
    ['6 in any second', 6, () => createSlidingWindow(6)],
    ['100 in each minute', 100 / 60, () => createFixedWindow(100, 60_000)],
    ['3,000 in each ten minutes', 5, () => createFixedWindow(3_000, 600_000)],
  ] as const)('nine tenths of a limit of %s are used, and few calls get a 429', (_, limit, create) => {
    for (const says of ['Retry-After', 'nothing'] as const) {
      const limiter = create();
      const calls = runLine({ cap: 10, hours: 24, limiter: () => limiter, says });
      const { used, refused: share } = usedOf(calls, limit, [HOUR / 30, 24 * HOUR]);

      expect.soft(used).toBeGreaterThan(0.9);
      expect(share).toBeLessThan(0.01);
    }
  });

  test('the fleet adapts within minutes to a limit that changes each hour', () => {
    const limiters = [8, 1.5, 6, 0.9, 10].map((limit) => ({ limit, window: createSlidingWindow(limit) }));
    const at = (atMs: number) =>
      limiters[Math.floor(atMs / HOUR) % 5] ?? { limit: 1, window: createSlidingWindow(1) };
    const calls = runLine({ cap: 10, hours: 24, limiter: (atMs) => at(atMs).window, says: 'nothing' });

    for (let hour = 0; hour < 24; hour += 1) {
      const { used } = usedOf(calls, at(hour * HOUR).limit, [(hour + 1 / 6) * HOUR, (hour + 1) * HOUR]);
      expect(used).toBeGreaterThan(0.88);
    }
  });
});

describe('a 429', () => {
  const facts = { cap: 10, nowMs: 0, granted: 0 };
  const pausesOf = (retryAfterMs: number | undefined) => {
    let state: NonNullable<Parameters<typeof rateOf>[0]> | undefined;
    return Array.from({ length: 7 }, () => {
      state = refused(state, { ...facts, retryAfterMs });
      return state.kind === 'refused' ? state.nextMs : 0;
    });
  };

  test.each([
    [undefined, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]],
    [0, [1_000, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]],
    [7_000, [7_000, 7_000, 7_000, 7_000, 7_000, 7_000, 7_000]],
    [60_000, [60_000, 60_000, 60_000, 60_000, 60_000, 60_000, 60_000]],
    [900_000, [30_000, 30_000, 30_000, 30_000, 30_000, 30_000, 30_000]],
  ])('that asks for a pause of %s ms is followed by a probe after this time', (retryAfterMs, pauses) => {
    expect(pausesOf(retryAfterMs)).toEqual(pauses);
  });

  test('causes only a short pause again once a call has succeeded', () => {
    const long = refusedAt(0, { refusals: 9 });
    const open = reopened(long as never, { ...facts, nowMs: 1_000 });

    expect(refused(open, { ...facts, nowMs: 5_000, retryAfterMs: undefined })).toMatchObject({
      nextMs: 6_000,
    });
  });

  test.each([
    [1_000, { atMs: 0, granted: 0 }],
    [3_600_000, undefined],
  ])('that comes %i ms after the rate reached its cap counts the calls since %o', (nowMs, busySince) => {
    const state = refused(learnedTo(10, 0), { ...facts, nowMs, retryAfterMs: undefined });

    expect(state).toMatchObject({ kind: 'refused', busySince });
  });

  test('lowers the rate by at most half if few calls show the limit, as after a time without calls', () => {
    const busySince = { atMs: 999_970, granted: 60 };
    const rateAfter = (granted: number) =>
      reopened(refusedAt(1_000_000, { busySince, granted, rate: 4, closedUntilMs: 1_009_000 }) as never, {
        cap: 10,
        nowMs: 1_010_000,
        granted: granted + 5,
      });

    expect(rateAfter(61).rate).toBe(2);
    expect(rateAfter(70).rate).toBeLessThan(1);
  });

  test('never lowers the rate below a fiftieth of the cap', () => {
    const from = { atMs: 0, granted: 0 };
    const state = refusedAt(3_600_000, { busySince: from, granted: 1, rate: 0.3 });

    expect(reopened(state as never, { ...facts, nowMs: 3_700_000 }).rate).toBe(0.2);
  });
});

describe('the rate', () => {
  test('rises only while at least half of it is used', () => {
    const idle = { cap: 10, nowMs: 600_000, granted: 10 };

    expect(rateOf(learnedTo(5, 0), idle)).toBeCloseTo(5, 0);
    expect(rateOf(learnedTo(5, 0), { ...idle, granted: 1_500 })).toBe(10);
  });

  test('is judged by how much of it was used since the last time without calls', () => {
    expect(restartIfIdle(learnedTo(5, 0), 7_000, { cap: 10, nowMs: 9_000, granted: 40 })).toMatchObject({
      at: { atMs: 0 },
      busySince: { atMs: 9_000, granted: 40 },
    });
  });
});

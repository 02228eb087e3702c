import { describe, expect, test } from 'vitest';
import { createAcceptanceTracker } from '../../lib/pace/reserve-block.ts';
import { createVirtualClock } from './virtual-clock.ts';

const slotAt = (atMs: number) => ({ atMs, waitedMs: 0 });

function createWorker() {
  const clock = createVirtualClock();
  const acceptance = createAcceptanceTracker(clock);
  const pass = async (ms: number) => {
    const slept = clock.sleep(ms);
    await clock.run(clock.now() + ms);
    await slept;
  };
  return { clock, acceptance, pass };
}

describe('that the platform has accepted calls since the last 429', () => {
  test('is proved by an accepted call that left after that 429', () => {
    const { acceptance } = createWorker();
    const slot = slotAt(0);

    acceptance.left(slot, 2);
    acceptance.ended(slot, true);

    expect([1, 2, 3].map(acceptance.acceptedSince)).toEqual([false, true, false]);
  });

  test('is not proved by a failed call, or by a call that is not known to the tracker', async () => {
    const { acceptance, pass } = createWorker();
    const slot = slotAt(0);

    acceptance.left(slot, 0);
    acceptance.ended(slot, false);
    acceptance.ended(slotAt(0), true);
    await pass(10_000);

    expect(acceptance.acceptedSince(0)).toBe(false);
  });

  test('is proved by a call in flight for two seconds, because a 429 would have arrived sooner', async () => {
    const { acceptance, pass } = createWorker();
    acceptance.left(slotAt(0), 1);

    await pass(1_999);
    const before = acceptance.acceptedSince(1);
    await pass(1);

    expect(before).toBe(false);
    expect([0, 1, 2].map(acceptance.acceptedSince)).toEqual([false, true, false]);
  });
});

describe('a wait for accepted calls', () => {
  test.each([
    ['a call is accepted', true],
    ['something else has changed', false],
  ])('ends when %s, with or without a signal', async (_, isCall) => {
    const { acceptance, clock } = createWorker();
    const slot = slotAt(0);
    acceptance.left(slot, 0);
    const { signal } = new AbortController();
    const slept = Promise.all([acceptance.sleep(5_000, undefined), acceptance.sleep(5_000, signal)]);
    await clock.run(1_000);

    if (isCall) acceptance.ended(slot, true);
    else acceptance.wake();
    await slept;

    expect(clock.now()).toBe(1_000);
  });

  test('throws the reason of the abort', async () => {
    const { acceptance, clock } = createWorker();
    const stop = new AbortController();
    const slept = acceptance.sleep(5_000, stop.signal);
    const expectation = expect(slept).rejects.toThrow('enough');
    await clock.run(1_000);

    stop.abort(new Error('enough'));

    await expectation;
  });
});

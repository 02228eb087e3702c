import { describe, expect, test } from 'vitest';
import { createProof } from '../../lib/pace/reserve-block.ts';
import { createVirtualClock } from './virtual-clock.ts';

const slotAt = (atMs: number) => ({ atMs, waitedMs: 0 });

function createWorker() {
  const clock = createVirtualClock();
  const proof = createProof(clock);
  const pass = async (ms: number) => {
    const slept = clock.sleep(ms);
    await clock.run(clock.now() + ms);
    await slept;
  };
  return { clock, proof, pass };
}

describe('that the platform accepts calls since the last 429 is proved', () => {
  test('by a call that left after just as many, and was accepted', () => {
    const { proof } = createWorker();
    const slot = slotAt(0);

    proof.left(slot, 2);
    proof.ended(slot, true);

    expect([1, 2, 3].map(proof.has)).toEqual([false, true, false]);
  });

  test('not by a call that failed, nor by one that it does not know', async () => {
    const { proof, pass } = createWorker();
    const slot = slotAt(0);

    proof.left(slot, 0);
    proof.ended(slot, false);
    proof.ended(slotAt(0), true);
    await pass(10_000);

    expect(proof.has(0)).toBe(false);
  });

  test('by a call that has taken two seconds: a 429 would have come at once', async () => {
    const { proof, pass } = createWorker();
    proof.left(slotAt(0), 1);

    await pass(1_999);
    const before = proof.has(1);
    await pass(1);

    expect(before).toBe(false);
    expect([0, 1, 2].map(proof.has)).toEqual([false, true, false]);
  });
});

describe('a sleep', () => {
  test.each([
    ['a call is accepted', true],
    ['something else has changed', false],
  ])('ends when %s, also if it could be aborted', async (_, isCall) => {
    const { proof, clock } = createWorker();
    const slot = slotAt(0);
    proof.left(slot, 0);
    const { signal } = new AbortController();
    const slept = Promise.all([proof.sleep(5_000, undefined), proof.sleep(5_000, signal)]);
    await clock.run(1_000);

    if (isCall) proof.ended(slot, true);
    else proof.wake();
    await slept;

    expect(clock.now()).toBe(1_000);
  });

  test('that is aborted throws the reason', async () => {
    const { proof, clock } = createWorker();
    const stop = new AbortController();
    const slept = proof.sleep(5_000, stop.signal);
    const expectation = expect(slept).rejects.toThrow('enough');
    await clock.run(1_000);

    stop.abort(new Error('enough'));

    await expectation;
  });
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBodyBudget } from '../../../lib/platform/http/body.ts';
import { json, startServer } from '../scripted-server.ts';
import { sendOnce } from '../send-once.ts';

const never = new AbortController().signal;

/** Whether a promise has been resolved yet. */
async function isResolved(promise: Promise<void>): Promise<boolean> {
  let resolved = false;
  promise.then(
    () => {
      resolved = true;
    },
    () => undefined,
  );
  await new Promise((resolve) => setImmediate(resolve));
  return resolved;
}

test('response bodies wait for free memory in the budget, except that one body at a time may exceed it', async () => {
  const budget = createBodyBudget(100, 0);
  const [first, second, third] = [budget.open(), budget.open(), budget.open()];

  await first.take(90, never);
  await second.take(90, never);
  const waiting = third.take(10, never);

  expect(await isResolved(waiting)).toBe(false);
  await second.take(1_000, never);
  first.close();
  expect(await isResolved(waiting)).toBe(false);
  second.close();
  expect(await isResolved(waiting)).toBe(true);
});

test('the body that has waited longest is next, and may be the next body that exceeds the budget', async () => {
  const budget = createBodyBudget(100, 0);
  const [large, next, small] = [budget.open(), budget.open(), budget.open()];
  await large.take(200, never);

  const [nextTurn, smallTurn] = [next.take(150, never), small.take(1, never)];
  large.close();

  expect(await isResolved(nextTurn)).toBe(true);
  expect(await isResolved(smallTurn)).toBe(false);
  next.close();
  expect(await isResolved(smallTurn)).toBe(true);
});

test('the first bytes of each body are free, so that small responses never wait for a large one', async () => {
  const budget = createBodyBudget(100, 50);
  const [large, small] = [budget.open(), budget.open()];
  await large.take(1_000, never);

  await small.take(20, never);
  await small.take(30, never);
  expect(await isResolved(small.take(1, never))).toBe(false);
});

test('a body whose call is aborted while it waits does not delay the others', async () => {
  const budget = createBodyBudget(100, 0);
  const [large, aborted, other] = [budget.open(), budget.open(), budget.open()];
  const stop = new AbortController();
  await large.take(200, never);

  const abortedTurn = aborted.take(1, stop.signal);
  const otherTurn = other.take(1, never);
  stop.abort(new Error('enough'));

  await expect(abortedTurn).rejects.toThrow('aborted');
  aborted.close();
  large.close();
  expect(await isResolved(otherTurn)).toBe(true);
});

test('with any bodies and aborts, all calls end, and memory never exceeds the budget plus one body', async () => {
  const body = fc.record({
    pieces: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 6 }),
    isAborted: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(body, { maxLength: 8 }), async (scheduler, bodies) => {
      const budget = createBodyBudget(100, 0);
      let [held, most] = [0, 0];
      const receive = async (
        share: ReturnType<typeof budget.open>,
        pieces: readonly number[],
        signal: AbortSignal,
      ) => {
        let own = 0;
        try {
          for (const bytes of pieces) {
            await scheduler.schedule(Promise.resolve());
            await share.take(bytes, signal);
            [held, own] = [held + bytes, own + bytes];
            most = Math.max(most, held);
          }
        } finally {
          held -= own;
          share.close();
        }
      };

      const received = bodies.map(({ pieces, isAborted }) => {
        const stop = new AbortController();
        if (isAborted) void scheduler.schedule(Promise.resolve()).then(() => stop.abort());
        return receive(budget.open(), pieces, stop.signal);
      });
      await scheduler.waitFor(Promise.allSettled(received));

      const sizes = bodies.map(({ pieces }) => pieces.reduce((sum, bytes) => sum + bytes, 0));
      expect(most).toBeLessThanOrEqual(100 + Math.max(0, ...sizes));
      expect(held).toBe(0);
      await budget.open().take(100, never);
    }),
    { numRuns: 60 },
  );
});

test('a call can be aborted while its body waits, and its memory is free again', async () => {
  await using server = await startServer(json('x'.repeat(98)), json('x'.repeat(98)));
  const bodies = createBodyBudget(0, 0);
  const other = bodies.open();
  await other.take(1, never);
  const stop = new AbortController();

  const aborted = sendOnce(server.url, { bodies, signal: stop.signal });
  await new Promise((resolve) => setTimeout(resolve, 300));
  stop.abort(new Error('enough'));

  await expect(aborted).rejects.toThrow('enough');
  other.close();
  expect(await sendOnce(server.url, { bodies })).toMatchObject({ kind: 'response' });
});

test('a body that is held after it was read keeps its memory until it is released', async () => {
  const bodies = createBodyBudget(100, 0);
  await using server = await startServer(json('x'.repeat(198)));
  const held: (() => void)[] = [];
  const { kind } = await sendOnce(server.url, { bodies, hold: (release) => void held.push(release) });

  const waiting = bodies.open().take(1, never);

  expect(kind).toBe('response');
  expect(await isResolved(waiting)).toBe(false);
  held[0]?.();
  expect(await isResolved(waiting)).toBe(true);
});

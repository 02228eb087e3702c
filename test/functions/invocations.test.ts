import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createInvocations } from '../../functions/invocations.ts';

function started() {
  const lines: string[] = [];
  return {
    ...createInvocations((line) => lines.push(line)),
    logged: () => lines.map((line) => JSON.parse(line)),
  };
}

const limitOf = (ms: number) => ({ getRemainingTimeInMillis: () => ms });

test('before the time limit a line says what is in hand, and the signal is aborted', async () => {
  const { run, inHand, logged } = started();

  await run(limitOf(30), async (nearEnd) => {
    using _job = inHand.hold({ job: 'a', type: 'score' });
    {
      using _done = inHand.hold({ job: 'done' });
    }
    using _call = inHand.hold({ operation: 'runFunction' });
    await new Promise((resolve) => nearEnd.addEventListener('abort', resolve));
    expect(nearEnd.reason).toMatchObject({ name: 'TimeUpError' });
  });

  expect(logged()).toEqual([
    expect.objectContaining({
      level: 'warn',
      msg: 'time is nearly up',
      leftMs: 30,
      inHand: [
        { job: 'a', type: 'score', forMs: expect.any(Number) },
        { operation: 'runFunction', forMs: expect.any(Number) },
      ],
      count: 2,
    }),
  ]);
});

test('of many things in hand the oldest twenty are named', async () => {
  const { run, inHand, logged } = started();
  const held = Array.from({ length: 50 }, (_, job) => inHand.hold({ job }));

  await run(limitOf(15), () => delay(30));
  for (const each of held) each[Symbol.dispose]();

  expect(logged()).toMatchObject([{ count: 50 }]);
  expect(logged()[0].inHand).toHaveLength(20);
  expect(inHand.size()).toBe(0);
});

test('an invocation that is done in time leaves no line, also not in the next one', async () => {
  const { run, logged } = started();

  expect(await run(limitOf(15), async () => 'done')).toBe('done');
  await delay(30);

  expect(logged()).toEqual([]);
});

test('what an invocation throws is logged with its type, and thrown', async () => {
  const { run, logged } = started();

  await expect(
    run(limitOf(60_000), async () => {
      throw new RangeError('too far');
    }),
  ).rejects.toThrow('too far');

  expect(logged()).toMatchObject([
    { level: 'error', msg: 'invocation failed', err: { type: 'RangeError', message: 'too far' }, inHand: [] },
  ]);
});

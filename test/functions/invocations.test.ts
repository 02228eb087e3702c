import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createInvocations } from '../../functions/invocations.ts';
import { createLogger } from '../../lib/logger.ts';

function started() {
  const lines: string[] = [];
  return {
    ...createInvocations((line) => lines.push(line)),
    logged: () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg !== 'invocation started'),
  };
}

const limitOf = (ms: number) => ({ awsRequestId: 'r-1', getRemainingTimeInMillis: () => ms });

test('shortly before the time limit, a log line names the open work, and the signal is aborted', async () => {
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
      request: 'r-1',
      leftMs: 30,
      inHand: [
        { job: 'a', type: 'score', forMs: expect.any(Number) },
        { operation: 'runFunction', forMs: expect.any(Number) },
      ],
      count: 2,
    }),
    expect.objectContaining({ msg: 'invocation ended', request: 'r-1' }),
  ]);
});

test('if much work is in progress, the log line names the oldest twenty items', async () => {
  const { run, inHand, logged } = started();
  const held = Array.from({ length: 50 }, (_, job) => inHand.hold({ job }));

  await run(limitOf(15), () => delay(30));
  for (const each of held) each[Symbol.dispose]();

  expect(logged()).toMatchObject([{ count: 50 }, { msg: 'invocation ended' }]);
  expect(logged()[0].inHand).toHaveLength(20);
  expect(inHand.size()).toBe(0);
});

test('one log line says that an invocation begins, another that it has ended, and lines between them have its id', async () => {
  const lines: string[] = [];
  const { run } = createInvocations((line) => lines.push(line));
  const logger = createLogger('info', (line) => lines.push(line));
  let leftMs = 60_000;
  const invocation = { awsRequestId: 'r-1', getRemainingTimeInMillis: () => leftMs };

  await run(invocation, async () => {
    leftMs = 48_000;
    logger.info('within');
  });
  logger.info('after');

  expect(lines.map((line) => JSON.parse(line))).toEqual(
    [
      { request: 'r-1', leftMs: 60_000, msg: 'invocation started' },
      { request: 'r-1', msg: 'within' },
      { request: 'r-1', tookMs: 12_000, msg: 'invocation ended' },
      { msg: 'after' },
    ].map((line) => ({ level: 'info', timestamp: expect.any(String), ...line })),
  );
});

test('an invocation that ended in time causes no warning about time in the next one', async () => {
  const { run, logged } = started();

  expect(await run(limitOf(15), async () => 'done')).toBe('done');
  await delay(30);

  expect(logged()).toMatchObject([{ msg: 'invocation ended' }]);
});

test('an error of an invocation is logged with its type, and rethrown', async () => {
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

import { describe, expect, test, vi } from 'vitest';
import { createHandlerProcess } from '../../../../lib/sandbox/aws/functions/create-handler-process.ts';
import { runScript } from '../run-script.ts';

const file = `${import.meta.dirname}/handlers.ts`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('a handler process', () => {
  test('runs the handler in its own process, the same one each time, and ends it on close', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });

    const pids = [await lambda.invoke({ command: 'pid' }), await lambda.invoke({ command: 'pid' })];
    await lambda.close();

    expect(pids[0]).toBe(pids[1]);
    expect(pids[0]).not.toBe(process.pid);
    expect(isRunning(Number(pids[0]))).toBe(false);
  });

  test("gives Lambda's context and only the configured environment", async () => {
    const environment = { PLATFORM_RATE: '2', AWS_REGION: 'eu-west-1' };
    await using lambda = createHandlerProcess({ file, environment, timeoutMs: 10_000, memoryMb: 512 });

    const context = await lambda.invoke({ command: 'context' });

    expect(context).toMatchObject({
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      functionName: 'handlers',
      invokedFunctionArn: 'arn:aws:lambda:eu-west-1:000000000000:function:handlers',
      memoryLimitInMB: '512',
      remainingMs: expect.toSatisfy((left: number) => left > 0 && left <= 10_000),
    });
    expect(context).toHaveProperty('environment', expect.arrayContaining(['PLATFORM_RATE', 'AWS_REGION']));
    expect(context).toHaveProperty('environment', expect.not.arrayContaining(['PATH', 'VITEST']));
  });

  test('returns null if the handler returns nothing', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });

    expect(await lambda.invoke({ command: 'nothing' })).toBeNull();
  });

  test('reports what the handler threw and continues in the same process', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });
    const before = await lambda.invoke({ command: 'pid' });

    const thrown = lambda.invoke({ command: 'throw' });

    await expect(thrown).rejects.toMatchObject({
      message: 'invoke handlers: threw RangeError: out of range',
      failure: { kind: 'threw', error: { trace: expect.arrayContaining(['RangeError: out of range']) } },
    });
    expect(await lambda.invoke({ command: 'pid' })).toBe(before);
  });

  test('throws if the result is not JSON', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });

    await expect(lambda.invoke({ command: 'cyclic' })).rejects.toMatchObject({ failure: { kind: 'threw' } });
  });

  test('reports a crash and continues in a new process', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });
    const before = await lambda.invoke({ command: 'pid' });

    const died = lambda.invoke({ command: 'exit' });

    await expect(died).rejects.toThrow('invoke handlers: its process ended: exit code 3');
    expect(await lambda.invoke({ command: 'pid' })).not.toBe(before);
  });

  test.for(['forever', 'spin'])(
    'kills the process of a handler that exceeds its time limit: %s',
    async (command) => {
      await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 1_000 });
      const before = await lambda.invoke({ command: 'pid' });

      const late = lambda.invoke({ command });

      await expect(late).rejects.toThrow('invoke handlers: timed out after 1000 ms');
      expect(isRunning(Number(before))).toBe(false);
      expect(await lambda.invoke({ command: 'pid' })).not.toBe(before);
    },
  );

  test('accepts the result of a process that exits right after it', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });

    expect(await lambda.invoke({ command: 'exit soon' })).toEqual({ batchItemFailures: [] });
  });

  test('survives a Ctrl-C, which reaches it too', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });
    const pid = Number(await lambda.invoke({ command: 'pid' }));

    const inHand = lambda.invoke({ command: 'slow' });
    process.kill(pid, 'SIGINT');

    expect(await inHand).toEqual({ batchItemFailures: [] });
  });

  test('ends with its parent process, however that ends', async () => {
    const script = `
      import { createHandlerProcess } from './lib/sandbox/aws/functions/create-handler-process.ts';
      const lambda = createHandlerProcess({ file: '${file}', environment: {}, timeoutMs: 60_000 });
      process.stdout.write(String(await lambda.invoke({ command: 'pid' })));
      void lambda.invoke({ command: 'forever' });
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50);`;

    const { out } = await runScript(script);

    expect(Number(out)).toBeGreaterThan(0);
    await vi.waitFor(() => expect(isRunning(Number(out))).toBe(false), { timeout: 5_000 });
  });

  test('takes calls one by one', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });

    const order: string[] = [];
    await Promise.all([
      lambda.invoke({ command: 'slow' }).then(() => order.push('slow')),
      lambda.invoke({ command: 'nothing' }).then(() => order.push('quick')),
    ]);

    expect(order).toEqual(['slow', 'quick']);
  });

  test('passes on what the handler writes, line by line', async () => {
    const lines: string[] = [];
    const lambda = createHandlerProcess({
      file,
      environment: {},
      timeoutMs: 10_000,
      onLog: (line) => lines.push(line),
    });

    await lambda.invoke({ command: 'log' });
    await lambda.close();

    expect(lines.toSorted()).toEqual(['one', 'three', 'two']);
  });

  test('on close, waits for the current call and refuses others', async () => {
    const lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });

    const inHand = lambda.invoke({ command: 'slow' });
    const closed = lambda.close();
    const refused = lambda.invoke({ command: 'pid' });

    await expect(refused).rejects.toMatchObject({ failure: { kind: 'closed' } });
    expect(await inHand).toEqual({ batchItemFailures: [] });
    await closed;
  });

  test('on close, kills what outlasts the grace period', async () => {
    const lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 60_000 });
    const pid = Number(await lambda.invoke({ command: 'pid' }));

    const inHand = lambda.invoke({ command: 'spin' });
    const queued = lambda.invoke({ command: 'pid' });
    const outcomes = Promise.allSettled([inHand, queued]);
    await lambda.close(100);

    expect(await outcomes).toMatchObject([
      { status: 'rejected', reason: { failure: { kind: 'closed' } } },
      { status: 'rejected', reason: { failure: { kind: 'closed' } } },
    ]);
    expect(isRunning(pid)).toBe(false);
  });

  test('closes without ever having been called', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 1 });

    await expect(lambda.close()).resolves.toBeUndefined();
  });

  test.for([
    ['nowhere.ts', /load nowhere: threw Error: Cannot find module/],
    ['../../../../lib/contract.ts', /load contract: threw TypeError: .*expected an export handler/],
  ] as const)('reports why %s cannot be loaded', async ([name, expected]) => {
    const broken = `${import.meta.dirname}/${name}`;
    await using lambda = createHandlerProcess({ file: broken, environment: {}, timeoutMs: 1_000 });

    await expect(lambda.invoke({})).rejects.toThrow(expected);
  });
});

test.for([0, 1.5, 900_001])('a time limit of %s ms is refused', (timeoutMs) => {
  expect(() => createHandlerProcess({ file, environment: {}, timeoutMs })).toThrow(
    `timeoutMs: expected a whole number from 1 to 900000, got ${timeoutMs}`,
  );
});

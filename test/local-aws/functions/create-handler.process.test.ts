import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { runScript } from '../run-script.ts';
import { createHandlerProcess } from './create-handler-process.ts';

const file = `${import.meta.dirname}/handlers.ts`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The state as `ps` prints it: T for a stopped process. */
const stateOf = async (pid: unknown) =>
  (await promisify(execFile)('ps', ['-o', 'stat=', '-p', String(pid)])).stdout.trim();

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
      const lines: string[] = [];
      const onLog = (line: string) => lines.push(line);
      await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 1_000, onLog });
      const before = await lambda.invoke({ command: 'pid' });

      const late = lambda.invoke({ command });

      await expect(late).rejects.toThrow('invoke handlers: timed out after 1000 ms');
      expect(lines).toEqual([
        expect.stringMatching(/Z [0-9a-f-]{36} Task timed out after 1\.00 seconds$/),
        expect.stringContaining('"type":"platform.report","record":{"status":"timeout"}'),
      ]);
      expect(isRunning(Number(before))).toBe(false);
      expect(await lambda.invoke({ command: 'pid' })).not.toBe(before);
    },
  );
});

describe('a handler process between invocations', () => {
  test('is frozen: work that the handler left running continues in the next invocation', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });
    const pid = await lambda.invoke({ command: 'pid' });
    await lambda.invoke({ command: 'tick' });

    await delay(500);
    const state = await stateOf(pid);
    const ticks = Number(await lambda.invoke({ command: 'tick' }));

    expect(state).toMatch(/^T/);
    // A process that is not stopped would have ticked 50 times.
    expect(ticks).toBeLessThan(20);
  });

  test('ends with its parent process, and with its folder, even while it is stopped', async () => {
    const script = `
      import { createHandlerProcess } from './test/local-aws/functions/create-handler-process.ts';
      const lambda = createHandlerProcess({ file: '${file}', environment: {}, timeoutMs: 60_000 });
      const found = [await lambda.invoke({ command: 'pid' }), await lambda.invoke({ command: 'write' })];
      process.stdout.write(JSON.stringify(found), () => process.kill(process.pid, 'SIGKILL'));`;

    const { out } = await runScript(script);
    const [pid, folder] = JSON.parse(out);

    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 5_000 });
    await vi.waitFor(() => expect(existsSync(folder)).toBe(false), { timeout: 5_000 });
  });

  test('is occasionally replaced, even if it is healthy', async () => {
    const sometimes = (rule: string) => rule === 'recycles';
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000, sometimes });

    const pids = [await lambda.invoke({ command: 'pid' }), await lambda.invoke({ command: 'pid' })];

    expect(pids[0]).not.toBe(pids[1]);
    expect(isRunning(Number(pids[0]))).toBe(false);
  });
});

describe('the file system of a handler', () => {
  test('has its own temporary folder, which is deleted with the process', async () => {
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000 });

    const folder = String(await lambda.invoke({ command: 'write' }));
    const written = await readFile(join(folder, 'written'), 'utf8');
    await lambda.close();

    expect(written).toBe('x');
    expect(existsSync(folder)).toBe(false);
  });

  test('is read-only elsewhere, except in folders that stand in for a service', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'lambda-test-'));
    const [inside, beside] = [join(folder.path, 'store', 'a'), join(folder.path, 'b')];
    const writable = [join(folder.path, 'store')];
    await using lambda = createHandlerProcess({ file, environment: {}, timeoutMs: 10_000, writable });

    const denied = lambda.invoke({ command: 'write', path: beside });

    await expect(denied).rejects.toThrow('Access to this API has been restricted');
    await expect(lambda.invoke({ command: 'write', path: inside })).rejects.toThrow('ENOENT');
    await lambda.invoke({ command: 'write', path: '/dev/null' });
    expect(existsSync(beside)).toBe(false);
  });
});

describe('a handler that takes too long to load', () => {
  const lines: string[] = [];
  const slow = { file, environment: {}, initMs: 1, onLog: (line: string) => lines.push(line) };

  test('is loaded once more, as part of the invocation', async () => {
    lines.length = 0;
    await using lambda = createHandlerProcess({ ...slow, timeoutMs: 30_000 });

    expect(await lambda.invoke({ command: 'nothing' })).toBeNull();
    expect(lines).toEqual(['INIT_REPORT Init Duration: 1.00 ms\tPhase: init\tStatus: timeout']);
  });

  test('fails the invocation at its time limit', async () => {
    lines.length = 0;
    await using lambda = createHandlerProcess({ ...slow, timeoutMs: 5 });

    await expect(lambda.invoke({})).rejects.toThrow('load handlers: timed out after 5 ms');
    expect(lines.at(-2)).toMatch(/ Task timed out after 0\.01 seconds$/);
  });
});

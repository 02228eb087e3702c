import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bareEnvironment, compileCache } from '../compile-cache.ts';
import { createHandlerProcess } from '../local-aws/functions/create-handler-process.ts';
import { startMute } from '../platform/mute-server.ts';

const urlOf = ({ port }: { readonly port: number }) => `http://127.0.0.1:${port}`;

/** The handler of a function for which AWS never responds, so that permissions do not matter. `lines`: its log lines. */
function handlerAt(url: string, name: string, settings: Readonly<Record<string, string>>) {
  const lines: string[] = [];
  const handler = createHandlerProcess({
    file: `functions/${name}/handler.ts`,
    environment: {
      ...bareEnvironment,
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_ENDPOINT_URL: url,
      PLATFORM_TOKEN: 'secret',
      SYNC_QUEUE_URL: `${url}/000000000000/jobs`,
      SYNC_TABLE: 'ledger',
      ...settings,
    },
    timeoutMs: 6_000,
    writable: [compileCache.NODE_COMPILE_CACHE, tmpdir()],
    onLog: (line) => void lines.push(line),
  });
  const logged = () => lines.filter((line) => line.startsWith('{"level"')).map((line) => JSON.parse(line));
  return { handler, logged, [Symbol.asyncDispose]: () => handler.close(0) };
}

test('if storage never responds, the request ends before the time limit, and the log lists the work in progress', async () => {
  await using silent = await startMute();
  await using splitTexts = handlerAt(urlOf(silent), 'split-texts', {
    PLATFORM_BASE_URL: 'https://acme.example.com',
    SYNC_STORE: 's3://acme/nightly',
  });

  const split = splitTexts.handler.invoke({
    detail: { bucket: { name: 'acme' }, object: { key: 'nightly/inbox/may.json' } },
  });

  // The handler fails with its own error, before Lambda would kill the process.
  await expect(split).rejects.toThrow('the time limit is almost reached');
  const inHand = [{ key: 'nightly/inbox/may.json', forMs: expect.any(Number) }];
  expect(splitTexts.logged()).toMatchObject([
    { level: 'info', msg: 'invocation started', request: expect.any(String) },
    { level: 'warn', msg: 'time is nearly up', inHand },
    { level: 'error', msg: 'invocation failed', err: { type: 'TimeUpError' } },
  ]);
});

test('a worker that is killed at its time limit has logged which message it was handling', async () => {
  await using silent = await startMute();
  await using store = await mkdtempDisposable(join(tmpdir(), 'time-limit-'));
  await using runJobs = handlerAt(urlOf(silent), 'run-jobs', {
    PLATFORM_BASE_URL: urlOf(silent),
    SYNC_STORE: store.path,
    SYNC_TABLE: `sqlite:${join(store.path, 'jobs.db')}`,
  });
  // The remaining time is too short for the job, so its message is requeued, but the queue does not respond.
  const job = { version: 1, type: 'snapshot', id: 'nightly-1', source: 'calculations' };

  const ran = runJobs.handler.invoke({
    Records: [
      {
        messageId: 'm-1',
        body: JSON.stringify(job),
        receiptHandle: 'r',
        attributes: { SenderId: 's', SentTimestamp: '0', ApproximateReceiveCount: '1' },
      },
    ],
  });

  await expect(ran).rejects.toMatchObject({ failure: { kind: 'timeout' } });
  expect(runJobs.logged().filter(({ msg }) => msg === 'time is nearly up')).toMatchObject([
    { inHand: [{ messageId: 'm-1', forMs: expect.any(Number) }], count: 1 },
  ]);
});

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createHandlerProcess } from '../../lib/sandbox/aws/functions/create-handler-process.ts';
import { bareEnvironment, compileCache } from '../compile-cache.ts';

/** Accepts every request, and never responds. */
async function startSilentServer() {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

test('a request whose storage never responds ends before the time limit, and the log says what was in hand', async () => {
  await using silent = await startSilentServer();
  const lines: string[] = [];
  await using splitTexts = createHandlerProcess({
    file: 'functions/split-texts/handler.ts',
    environment: {
      ...bareEnvironment,
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_ENDPOINT_URL: silent.url,
      PLATFORM_BASE_URL: 'https://acme.example.com',
      PLATFORM_TOKEN: 'secret',
      SYNC_STORE: 's3://acme/nightly',
      SYNC_QUEUE_URL: `${silent.url}/000000000000/jobs`,
    },
    timeoutMs: 6_000,
    writable: [compileCache.NODE_COMPILE_CACHE],
    onLog: (line) => void lines.push(line),
  });

  const split = splitTexts.invoke({
    detail: { bucket: { name: 'acme' }, object: { key: 'nightly/inbox/may.json' } },
  });

  // Its own error, and not that of the time limit.
  await expect(split).rejects.toThrow('expected to be done within the time limit');
  const logged = lines.filter((line) => line.startsWith('{"level"')).map((line) => JSON.parse(line));
  const inHand = [{ key: 'nightly/inbox/may.json', forMs: expect.any(Number) }];
  expect(logged).toMatchObject([
    { level: 'warn', msg: 'time is nearly up', inHand },
    { level: 'error', msg: 'invocation failed', err: { type: 'TimeUpError' } },
  ]);
});

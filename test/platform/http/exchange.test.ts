import dns from 'node:dns';
import { getEventListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { MAX_IDLE_MS } from '../../../lib/base/aws/index.ts';
import { createExchange } from '../../../lib/platform/http/exchange.ts';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from '../../base/aws/own-authority.ts';
import { folderOfAll } from '../../folder-of-each.ts';
import { listening } from '../../listening.ts';
import { json, reset, startServer } from '../scripted-server.ts';
import { sendOnce } from '../send-once.ts';

const folder = folderOfAll();

const requestTo = (url: string) => ({
  url: new URL('/api/x', url),
  method: 'GET' as const,
  headers: {},
  body: undefined,
  timeoutMs: 5_000,
  fresh: true,
});

test.each([
  ['that got a response', json({ a: 1 })],
  ['that failed', reset],
])('a call %s leaves no listener on its signal', async (_, script) => {
  await using server = await startServer(script);
  const { signal } = new AbortController();

  const response = await createExchange()(requestTo(server.url), signal, () => undefined).catch(
    () => undefined,
  );
  for await (const _chunk of response?.body ?? []);

  // Node removes its own listener when the connection is closed.
  await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
});

const UNWATCHED = [new AbortController().signal, () => undefined] as const;

async function readAll(
  exchange: ReturnType<typeof createExchange>,
  request: Parameters<ReturnType<typeof createExchange>>[0],
) {
  const { body } = await exchange(request, ...UNWATCHED);
  return (await Array.fromAsync(body)).join('');
}

test('a connection that was idle for a long time is not reused, because a load balancer may have closed it', async () => {
  await using server = await startServer(json({ a: 1 }));
  const exchange = createExchange({}, 100);
  const request = { ...requestTo(server.url), fresh: false };

  await readAll(exchange, request);
  await readAll(exchange, request);
  await sleep(300);
  await readAll(exchange, request);

  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 1, 2]);
  expect(MAX_IDLE_MS).toBeLessThan(60_000);
});

test('a call that may not be repeated is never sent on a connection that was used before', async () => {
  await using server = await startServer(json({ a: 1 }));
  const exchange = createExchange();

  for (const fresh of [false, true, true, false])
    await readAll(exchange, { ...requestTo(server.url), fresh });

  expect(server.requests.map(({ connection }) => connection)).toEqual([1, 2, 3, 1]);
});

test('a platform that has only an IPv6 address is reached', async () => {
  await using server = await listening(
    createServer((_, response) => response.end('{"six":true}')),
    '::1',
  );

  expect(await sendOnce(`http://[::1]:${server.port}`)).toMatchObject({ response: { json: { six: true } } });
});

test('connections over TLS are not reused either after a long idle time, and neither are connections of the AWS clients', async () => {
  let connections = 0;
  const secure = createSecureServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, (_, response) =>
    response.end('{}'),
  );
  await using server = await listening(secure.on('connection', () => (connections += 1)));
  const AWS_CA_BUNDLE = join(folder, 'idle.pem');
  writeFileSync(AWS_CA_BUNDLE, AUTHORITY);
  const exchange = createExchange({ AWS_CA_BUNDLE }, 100);
  const request = { ...requestTo(`https://localhost:${server.port}`), fresh: false };

  await readAll(exchange, request);
  await readAll(exchange, request);
  await sleep(300);
  await readAll(exchange, request);

  expect(connections).toBe(2);
});

test('the certificate authority in AWS_CA_BUNDLE is trusted for the platform as well', async () => {
  await using server = await listening(
    createSecureServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, (_, response) => response.end('{}')),
  );
  const url = `https://localhost:${server.port}`;
  const AWS_CA_BUNDLE = join(folder, 'authority.pem');
  writeFileSync(AWS_CA_BUNDLE, AUTHORITY);

  expect(await sendOnce(url, { proxyEnv: { AWS_CA_BUNDLE } })).toMatchObject({ kind: 'response' });
  expect(await sendOnce(url)).toMatchObject({ failure: { kind: 'connection', phase: 'tls' }, sent: false });
});

describe('a slow DNS resolver', () => {
  const { lookup } = dns;
  afterEach(() => Object.assign(dns, { lookup }));

  /** Delays every DNS lookup by this time. */
  function answerAfter(ms: number) {
    const late = (_: string, __: object, done: (error: null, found: readonly object[]) => void) =>
      void setTimeout(() => done(null, [{ address: '127.0.0.1', family: 4 }]), ms);
    Object.assign(dns, { lookup: late });
  }

  test('is waited for until the time limit', async () => {
    await using server = await startServer(json({ a: 1 }));
    answerAfter(50);

    const result = await sendOnce(`http://platform.invalid:${server.port}`, { connectMs: 5_000 });

    expect(result).toMatchObject({ response: { json: { a: 1 } } });
  });

  test('is given up at the time limit, and nothing is sent if it responds later', async () => {
    await using server = await startServer(json({ a: 1 }));
    answerAfter(100);

    const result = await sendOnce(`http://platform.invalid:${server.port}`, { connectMs: 20 });
    await sleep(200);

    expect(result).toMatchObject({
      failure: { kind: 'timeout', timeoutMs: 20, phase: 'connect' },
      sent: false,
    });
    expect(server.requests).toEqual([]);
  });
});

import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { describeFailure } from '../../lib/platform/failure.ts';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from '../base/aws/own-authority.ts';
import { listening } from '../listening.ts';
import { startMute } from './mute-server.ts';
import { startProxy } from './proxy-server.ts';
import { json, startServer } from './scripted-server.ts';
import { sendOnce } from './send-once.ts';

describe('a proxy', () => {
  test.for(['HTTPS_PROXY', 'https_proxy'])('is asked for a tunnel if %s names it', async (name) => {
    await using proxy = await startProxy({ refuse: '503 Service Unavailable' });

    await sendOnce('https://platform.invalid', { proxyEnv: { [name]: proxy.url } });

    expect(proxy.connects).toEqual(['CONNECT platform.invalid:443']);
  });

  test('without a scheme uses HTTP, as in curl and Python', async () => {
    await using proxy = await startProxy({ refuse: '503 Service Unavailable' });

    const result = await sendOnce('https://platform.invalid', {
      proxyEnv: { HTTPS_PROXY: proxy.url.replace('http://', 'me:hush@') },
    });

    expect(proxy.connects).toEqual(['CONNECT platform.invalid:443']);
    expect(result).toMatchObject({ failure: { code: 'ERR_PROXY_TUNNEL', proxy: proxy.url } });
  });

  test.for(['platform.invalid', '.invalid', '*'])('is bypassed if NO_PROXY is %s', async (NO_PROXY) => {
    await using proxy = await startProxy({ refuse: '503 Service Unavailable' });

    const result = await sendOnce('https://platform.invalid', {
      proxyEnv: { HTTPS_PROXY: proxy.url, NO_PROXY },
    });

    expect(proxy.connects).toEqual([]);
    expect(result).toMatchObject({ failure: { kind: 'connection', phase: 'resolve' }, sent: false });
  });

  test('is not looked up in the environment of the process', async () => {
    await using proxy = await startProxy({ refuse: '503 Service Unavailable' });

    await sendOnce('https://platform.invalid', { proxyEnv: {} });

    expect(proxy.connects).toEqual([]);
  });

  test.for(['403 Forbidden', '407 Proxy Authentication Required', '502 Bad Gateway'])(
    'that refuses with %s causes an error, and nothing is sent',
    async (refuse) => {
      await using proxy = await startProxy({ refuse });

      const result = await sendOnce('https://platform.invalid', { proxyEnv: { HTTPS_PROXY: proxy.url } });

      expect(result).toMatchObject({
        status: undefined,
        failure: { kind: 'connection', phase: 'connect', code: 'ERR_PROXY_TUNNEL', proxy: proxy.url },
        sent: false,
      });
    },
  );

  test('that leads to a server without TLS is reported as such, and nothing is sent', async () => {
    await using server = await startServer(json({}));
    await using proxy = await startProxy({ port: server.port });

    const result = await sendOnce('https://platform.invalid', { proxyEnv: { HTTPS_PROXY: proxy.url } });

    expect(result).toMatchObject({ failure: { kind: 'connection', phase: 'tls' }, sent: false });
    expect(server.requests).toEqual([]);
  });

  test('is not used for plain HTTP, which only local servers speak', async () => {
    await using proxy = await startProxy({ refuse: '503 Service Unavailable' });
    await using server = await startServer(json({ a: 1 }));

    const result = await sendOnce(server.url, {
      proxyEnv: { HTTP_PROXY: proxy.url, HTTPS_PROXY: proxy.url },
    });

    expect(result).toMatchObject({ kind: 'response', response: { json: { a: 1 } } });
    expect(proxy.connects).toEqual([]);
  });

  test.for([
    ['that is unavailable', 'http://127.0.0.1:9', 'no connection could be made through the proxy'],
    ['that has no address', 'http://proxy.invalid:3128', 'the name could not be resolved through the proxy'],
  ])('%s is named in the error', async ([, url, words]) => {
    const result = await sendOnce('https://platform.invalid', { proxyEnv: { https_proxy: url } });

    expect(result).toMatchObject({ kind: 'failure', sent: false });
    expect(result.kind === 'failure' && describeFailure(result.failure)).toContain(`${words} ${url} (`);
  });

  test('that takes too long is named in the error', async () => {
    await using mute = await startMute();
    const proxyEnv = { ALL_PROXY: `http://me:hush@127.0.0.1:${mute.port}` };

    const result = await sendOnce('https://platform.invalid', { proxyEnv, timeoutMs: 60_000, connectMs: 50 });

    expect(result).toMatchObject({ kind: 'failure', sent: false });
    expect(result.kind === 'failure' && describeFailure(result.failure)).toBe(
      `no complete response within 0.1 s through the proxy http://127.0.0.1:${mute.port}`,
    );
  });

  test('that takes too long is disconnected at once, so that the process can end', async () => {
    const closed = Promise.withResolvers<'closed'>();
    await using mute = await startMute((socket) =>
      socket.on('close', () => closed.resolve('closed')).resume(),
    );
    const proxyEnv = { HTTPS_PROXY: `http://127.0.0.1:${mute.port}` };

    await sendOnce('https://platform.invalid', { proxyEnv, timeoutMs: 60_000, connectMs: 50 });

    expect(await Promise.race([closed.promise, delay(3_000)])).toBe('closed');
  });

  test('may wait for a response longer than for a connection', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'proxy-'));
    const AWS_CA_BUNDLE = join(folder.path, 'authority.pem');
    await writeFile(AWS_CA_BUNDLE, AUTHORITY);
    await using server = await listening(
      createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, async (_, response) => {
        await delay(900);
        response.end('{"a":1}');
      }),
    );
    await using proxy = await startProxy({ port: server.port });
    const proxyEnv = { HTTPS_PROXY: proxy.url, AWS_CA_BUNDLE };

    const result = await sendOnce('https://platform.invalid', { proxyEnv, connectMs: 300 });

    expect(result).toMatchObject({ kind: 'response', response: { json: { a: 1 } } });
  });

  test('does not show its password when it refuses', async () => {
    await using proxy = await startProxy({ refuse: '407 Proxy Authentication Required' });
    const proxyUrl = proxy.url.replace('//', '//user:hush@');

    const result = await sendOnce('https://platform.invalid', { proxyEnv: { HTTPS_PROXY: proxyUrl } });

    expect(proxy.connects).toHaveLength(1);
    expect(String(Reflect.get(result, 'cause'))).toContain('407');
    expect(String(Reflect.get(result, 'cause'))).not.toContain('hush');
  });
});

import { writeFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { describe, expect, test } from 'vitest';
import { awsClientConfig } from '../../../lib/base/aws/client-config.ts';
import { AwsError, isPassing } from '../../../lib/base/aws/fault.ts';
import { networkFaults, proxyOf } from '../../../lib/base/aws/network.ts';
import { remedyFor } from '../../../lib/cli/errors/explain.ts';
import { folderOfAll } from '../../folder-of-each.ts';
import { listening } from '../../listening.ts';
import { startProxy } from '../../platform/proxy-server.ts';
import { AUTHORITY, SERVER_CERTIFICATE, SERVER_KEY } from './own-authority.ts';

const folder = folderOfAll();
const bundle = join(folder, 'authority.pem');
writeFileSync(bundle, AUTHORITY);
const damaged = join(folder, 'damaged.pem');
writeFileSync(damaged, AUTHORITY.replace('MIIB', 'XXXX'));

describe('NO_PROXY is interpreted', () => {
  const isDirect = (host: string, NO_PROXY: string) =>
    proxyOf(new URL(`https://${host}`), { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY }) === undefined;

  /* The cases of curl's own test (tests/unit/unit1614.c) and of its manual. */
  test.each<[string, string, boolean]>([
    ['www.example.com', 'localhost,.example.com,.example.de', true],
    ['www.example.com.', 'localhost,.example.com,.example.de', true],
    ['example.com', 'localhost,.example.com,.example.de', true],
    ['example.com.', 'localhost,.example.com,.example.de', true],
    ['www.example.com', 'localhost,.example.com.,.example.de', true],
    ['www.example.com', 'localhost,www.example.com.,.example.de', true],
    ['example.com', 'localhost,example.com,.example.de', true],
    ['example.com.', 'localhost,example.com,.example.de', true],
    ['nexample.com', 'localhost,example.com,.example.de', false],
    ['www.example.com', 'localhost,example.com,.example.de', true],
    ['127.0.0.1', '127.0.0.1,localhost', true],
    ['127.0.0.1', '127.0.0.1,localhost,', true],
    ['127.0.0.1', '127.0.0.1/8,localhost,', true],
    ['127.0.0.1', '127.0.0.1/28,localhost,', true],
    ['127.0.0.1', '127.0.0.1/31,localhost,', true],
    ['127.0.0.1', 'localhost,127.0.0.1', true],
    ['127.0.0.1', 'localhost,127.0.0.1.127.0.0.1.127.0.0.1', false],
    ['localhost', 'localhost,127.0.0.1', true],
    ['localhost', '127.0.0.1,localhost', true],
    ['foobar', 'barfoo', false],
    ['foobar', 'foobar', true],
    ['192.168.0.1', 'foobar', false],
    ['192.168.0.1', '192.168.0.0/16', true],
    ['192.168.0.1', '192.168.0.0/24', true],
    ['192.168.0.1', '192.168.0.0/32', false],
    ['192.168.0.1', '192.168.0.0', false],
    ['192.168.1.1', '192.168.0.0/24', false],
    ['192.168.1.1', 'foo, bar, 192.168.0.0/24', false],
    ['192.168.1.1', 'foo, bar, 192.168.0.0/16', true],
    ['192.168.1.1', 'foo bar 192.168.0.0/16', true],
    ['[::1]', 'foo, bar, 192.168.0.0/16', false],
    ['[::1]', 'foo, bar, ::1/64', true],
    ['bar', 'foo, bar, ::1/64', true],
    ['BAr', 'foo, bar, ::1/64', true],
    ['BAr', 'foo,,,,,              bar, ::1/64', true],
    ['www.example.com', 'foo, .example.com', true],
    ['www.example.com', 'www2.example.com, .example.net', false],
    ['example.com', '.example.com, .example.net', true],
    ['nonexample.com', '.example.com, .example.net', false],
    ['www.local.com', 'local.com', true],
    ['local.com:80', 'local.com', true],
    ['www.notlocal.com', 'local.com', false],
    ['ample.com.org', 'ample.com', false],
    ['anything.example', '*', true],
    ['192.160.0.1', '192.160.0.1/33', false],
    ['10.0.0.1', '192.160.0.1/8', false],
    ['[::1]', '0:0::1', true],
    ['[::1]', '::1/129', false],
    ['[fe80::ab47:4396:55c9:8474]', 'fe80::ab47:4396:55c9:8474/64', true],
  ])('as curl does: %s, %s', (host, list, direct) => {
    expect(isDirect(host, list)).toBe(direct);
  });

  /* The cases of Go's test (net/http/httpproxy), except that `.name` matches the name too, as in curl and Python. */
  const GO =
    'foobar.com, .barbaz.net, *.wildcard.io, 192.168.1.1, 192.168.1.2:81, 192.168.1.3:80, 10.0.0.0/30, 2001:db8::52:0:1, [2001:db8::52:0:2]:443, [2001:db8::52:0:3]:80, 2002:db8:a::45/64, xn--fsq092h.com, 例え.jp, a.example:8443';

  test.each<[string, boolean]>([
    ['[::2]', false],
    ['192.168.1.1:80', true],
    ['192.168.1.2:80', false],
    ['192.168.1.3:80', true],
    ['192.168.1.4:80', false],
    ['10.0.0.2', true],
    ['10.0.0.5', false],
    ['[2001:db8::52:0:1]:80', true],
    ['[2001:db8::52:0:2]:80', false],
    ['[2001:db8::52:0:2]', true],
    ['[2001:db8::52:0:3]:80', true],
    ['[2002:db8:a::123]', true],
    ['[fe80::424b:c8be:1643:a1b6]', false],
    ['barbaz.net', true],
    ['www.barbaz.net', true],
    ['foobar.com', true],
    ['www.foobar.com', true],
    ['foofoobar.com', false],
    ['baz.com', false],
    ['barbarbaz.net', false],
    ['wildcard.io', false],
    ['nested.wildcard.io', true],
    ['awildcard.io', false],
    ['www.示例.com', true],
    ['www.xn--r8jz45g.jp', true],
    ['a.example:8443', true],
    ['b.a.example:8443', true],
    ['a.example', false],
  ])('as Go does: %s', (host, direct) => {
    expect(isDirect(host, GO)).toBe(direct);
  });

  test.each([':1', '[', 'a,b', '/', '10.0.0.0/', '10.0.0.0/x', '::/x', '%', '.', '*.', ''])(
    'so that an entry that is not a host excludes nothing: %s',
    (list) => {
      expect(['example.com', '10.0.0.1', '[::1]'].filter((host) => isDirect(host, list))).toEqual([]);
    },
  );

  test('in lower case first, unless that variable is empty', () => {
    const of = (names: object) =>
      proxyOf(new URL('https://a.example'), {
        https_proxy: 'http://p',
        HTTPS_PROXY: 'http://other',
        ...names,
      });

    expect(of({ no_proxy: 'b.example', NO_PROXY: 'a.example' })).toBe('http://p');
    expect(of({ no_proxy: '', NO_PROXY: 'a.example' })).toBeUndefined();
    expect(proxyOf(new URL('http://a.example'), { HTTPS_PROXY: 'http://p' })).toBeUndefined();
  });
});

test.each([
  ['24.0.0', 1],
  ['24.4.9', 1],
  ['24.5.0', 0],
  ['26.0.0', 0],
])('proxy settings on Node %s: %i faults', (node, faults) => {
  expect(networkFaults({ https_proxy: 'http://proxy.example.com:1080' }, node)).toHaveLength(faults);
  expect(networkFaults({ NO_PROXY: '*' }, node)).toEqual([]);
});

test.each<[string, string, string]>([
  ['that does not exist', join(folder, 'none.pem'), 'none.pem: no such file or directory'],
  ['that is a folder', folder, 'a folder'],
  ['without a certificate', import.meta.filename, 'network.test.ts'],
  ['whose certificate is damaged', damaged, 'damaged.pem'],
])('AWS_CA_BUNDLE is reported if it names a file %s', (_, file, words) => {
  expect(networkFaults({ AWS_CA_BUNDLE: file })).toEqual([
    expect.stringMatching(/^AWS_CA_BUNDLE: expected a file of PEM certificates, got /),
  ]);
  expect(networkFaults({ AWS_CA_BUNDLE: file })[0]).toContain(words);
});

const CLIENT = {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'a-secret',
};

const read = (environment: Readonly<Record<string, string>>) => {
  const limits = { connectionTimeoutMs: 1_000, requestTimeoutMs: 2_000 };
  const client = new SecretsManagerClient({
    ...awsClientConfig({ ...CLIENT, ...environment }, { service: 'SECRETS_MANAGER', ...limits }),
    maxAttempts: 1,
  });
  return client.send(new GetSecretValueCommand({ SecretId: 'token' })).then(
    ({ SecretString }) => SecretString,
    (error: unknown) => new AwsError('token', 'read secret token', error),
  );
};

describe('a service of AWS over TLS', () => {
  const startSecrets = () =>
    listening(
      createServer({ cert: SERVER_CERTIFICATE, key: SERVER_KEY }, (_, response) => {
        response
          .writeHead(200, { 'content-type': 'application/x-amz-json-1.1' })
          .end('{"SecretString":"hush"}');
      }),
    );

  test('is trusted through the authority in AWS_CA_BUNDLE; without that setting, the error recommends it', async () => {
    await using server = await startSecrets();
    const environment = {
      AWS_ENDPOINT_URL: `https://localhost:${server.port}`,
      PLATFORM_TOKEN_SECRET: 'token',
    };

    const refused = await read(environment);

    expect(await read({ ...environment, AWS_CA_BUNDLE: bundle })).toBe('hush');
    expect(refused).toMatchObject({
      failure: { kind: 'denied', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' },
    });
    expect(remedyFor(refused, environment)).toContain('set NODE_EXTRA_CA_CERTS to a file');
  });

  test('is also trusted through the authority in NODE_EXTRA_CA_CERTS if a settings file sets that variable, too late for Node to read it', async () => {
    await using server = await startSecrets();
    const AWS_ENDPOINT_URL = `https://localhost:${server.port}`;

    expect(await read({ AWS_ENDPOINT_URL, NODE_EXTRA_CA_CERTS: bundle })).toBe('hush');
    expect(await read({ AWS_ENDPOINT_URL, NODE_EXTRA_CA_CERTS: bundle, AWS_CA_BUNDLE: bundle })).toBe('hush');
    expect(networkFaults({ NODE_EXTRA_CA_CERTS: damaged })).toEqual([]);
  });

  test('that speaks no TLS is named as such, and so is a proxy', async () => {
    await using plain = await listening(createPlainServer());
    const asHttps = `https://localhost:${plain.port}`;

    const errors = [
      await read({ AWS_ENDPOINT_URL: asHttps }),
      await read({ AWS_ENDPOINT_URL: 'https://secrets.example.com', HTTPS_PROXY: asHttps }),
    ];

    for (const error of errors) {
      expect(error).toMatchObject({ failure: { code: 'ERR_SSL_WRONG_VERSION_NUMBER' } });
      expect(remedyFor(error, {})).toContain('does not speak TLS');
    }
  });

  test('is called through the proxy, or directly if NO_PROXY has its host', async () => {
    await using server = await startSecrets();
    await using proxy = await startProxy({ port: server.port });
    const environment = { AWS_CA_BUNDLE: bundle, HTTPS_PROXY: proxy.url };

    const through = await read({ ...environment, AWS_ENDPOINT_URL: 'https://secrets.example.com' });
    const direct = await read({
      ...environment,
      AWS_ENDPOINT_URL: `https://localhost:${server.port}`,
      NO_PROXY: `localhost:${server.port}`,
    });

    expect([through, direct]).toEqual(['hush', 'hush']);
    expect(proxy.connects).toEqual(['CONNECT secrets.example.com:443']);
  });

  test.each(['refuses', 'hangs up', 'is unreachable', 'leads to an authority that is unknown'])(
    'the error of a proxy that %s names the proxy, without its password',
    async (way) => {
      await using server = await startSecrets();
      await using proxy = await startProxy(
        way === 'refuses'
          ? { refuse: '407 Proxy Authentication Required' }
          : way === 'hangs up'
            ? 'hang-up'
            : { port: server.port },
      );
      const url = way === 'is unreachable' ? 'http://127.0.0.1:9' : proxy.url;

      const error = await read({
        AWS_ENDPOINT_URL: 'https://secrets.example.com',
        HTTPS_PROXY: url.replace('//', '//me:hush@'),
      });

      expect(String(error)).toContain(url);
      expect(isPassing(error)).toBe(way === 'hangs up' || way === 'is unreachable');
      expect(String(error)).not.toContain('hush');
    },
  );
});

test('a service that has only an IPv6 address is called at that address, in brackets', async () => {
  await using server = await listening(
    createPlainServer((_, response) =>
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end('{"SecretString":"six"}'),
    ),
    '::1',
  );

  expect(await read({ AWS_ENDPOINT_URL: `http://[::1]:${server.port}` })).toBe('six');
});

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { printJson } from '../../lib/json/json.ts';
import { createPlatform } from '../../lib/platform/client.ts';
import type { PlatformFailure } from '../../lib/platform/failure.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { createFakePace } from '../pace/fake-pace.ts';
import { caught } from '../platform/caught.ts';
import { startProxy } from '../platform/proxy-server.ts';
import { calculationRow, calculations } from '../platform/sample-records.ts';
import {
  bytes,
  json,
  type Reply,
  rawBytes,
  redirect,
  startServer,
  trickle,
} from '../platform/scripted-server.ts';

/*
 * Hostile responses to the real client, with as many retries as by default but shorter waits: which failure it is, what
 * the message says, how often it was tried, and how long that took.
 */

const sort = { field: 'id', ascending: true };
const inJson = { 'content-type': 'application/json' };
const MAX_BYTES = 1_000_000;
/** On a busy machine; the limit of one attempt is the same. */
const MOST_SECONDS = 5;

type Options = { readonly timeoutMs?: number; readonly proxyUrl?: string };

function platformAt(baseUrl: string, { timeoutMs = 5_000, proxyUrl }: Options = {}) {
  return createPlatform({
    baseUrl,
    token: fixedToken('token'),
    pace: createFakePace(),
    timeoutMs,
    maxResponseBytes: MAX_BYTES,
    retry: { baseDelayMs: 1, maxDelayMs: 1, budgetMs: 4_000 },
    ...(proxyUrl === undefined ? {} : { proxyEnv: { HTTPS_PROXY: proxyUrl } }),
  });
}

const raw = (...lines: readonly string[]): Reply => rawBytes(lines.join('\r\n'));
const encoded = (body: Uint8Array, encoding: string) =>
  bytes(body, { ...inJson, 'content-encoding': encoding });
const good = printJson(calculations(calculationRow()));
const retryAfter = (value: string, status = 503) =>
  json({ message: 'busy' }, status, { 'retry-after': value });

/** What is tried, and how it ends: the kind, the message after the operation, and the number of attempts. */
type Case = readonly [
  name: string,
  reply: Reply,
  kind: PlatformFailure['kind'],
  says: string | RegExp,
  attempts: number,
];

const statuses: readonly Case[] = [
  [
    '101, not requested',
    raw('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: x', '', ''),
    'connection',
    'the connection broke (ECONNRESET)',
    9,
  ],
  [
    '100 and then nothing',
    raw('HTTP/1.1 100 Continue', '', ''),
    'connection',
    'the connection broke (ECONNRESET)',
    9,
  ],
  [
    '103 without end',
    raw(...Array.from({ length: 500 }, () => 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n'), ''),
    'connection',
    'the connection broke (ECONNRESET)',
    9,
  ],
  [
    '204',
    bytes('', {}, 204),
    'not-json',
    'the server responded with 204 and no content type instead of JSON: is the address correct, and allowed from here?',
    5,
  ],
  [
    '204 with a body',
    raw('HTTP/1.1 204 No Content', 'content-type: application/json', 'content-length: 2', '', '{}'),
    'cut',
    'the response is not complete, valid JSON: 0 bytes received',
    9,
  ],
  [
    '206 with half of a page',
    raw(
      'HTTP/1.1 206 Partial Content',
      'content-type: application/json',
      'content-range: bytes 0-9/99',
      'content-length: 10',
      '',
      '{"results"',
    ),
    'status',
    'the server responded with 206, a part of a response, which was not requested',
    1,
  ],
  [
    '206 with a range that reads as JSON',
    bytes(good, { ...inJson, 'content-range': 'bytes 0-999/2000' }, 206),
    'status',
    'the server responded with 206, a part of a response, which was not requested',
    1,
  ],
  [
    '300',
    redirect(300, 'https://a.invalid/x'),
    'redirect',
    'redirected (300) to https://a.invalid/x, which is not followed: is the address correct, and allowed from here?',
    1,
  ],
  [
    '301',
    redirect(301, 'https://a.invalid/x?token=1'),
    'redirect',
    'redirected (301) to https://a.invalid/x, which is not followed: is the address correct, and allowed from here?',
    1,
  ],
  [
    '302',
    redirect(302, 'https://a.invalid/x'),
    'redirect',
    /^redirected \(302\) to https:\/\/a\.invalid\/x, /,
    5,
  ],
  ['302 without a location', bytes('', {}, 302), 'redirect', /^redirected \(302\) to nowhere, /, 5],
  ['302 to a script', redirect(302, 'javascript:alert(1)'), 'redirect', /^redirected \(302\) to /, 5],
  [
    '303',
    redirect(303, '/login'),
    'redirect',
    /^redirected \(303\) to http:\/\/127\.0\.0\.1:\d+\/login, /,
    5,
  ],
  [
    '304',
    bytes('', {}, 304),
    'redirect',
    'the server responded with 304 (not modified), which was not requested: is there a cache in between?',
    1,
  ],
  ['305', redirect(305, 'http://proxy.invalid/'), 'redirect', /^redirected \(305\) to /, 1],
  ['307', redirect(307, '//a.invalid'), 'redirect', /^redirected \(307\) to http:\/\/a\.invalid\/, /, 5],
  [
    '308',
    redirect(308, 'https://a.invalid/'),
    'redirect',
    /^redirected \(308\) to https:\/\/a\.invalid\/, /,
    1,
  ],
  [
    '407',
    json({ message: 'who?' }, 407),
    'status',
    'the server responded with 407: who?. Does HTTPS_PROXY have the user and password that the proxy requires?',
    1,
  ],
  [
    '418 with a page',
    bytes('<html><title>tea</title>', { 'content-type': 'text/html' }, 418),
    'status',
    'the server responded with 418: a page titled “tea”',
    1,
  ],
  ['421', json('no', 421), 'status', 'the server responded with 421: no', 1],
  ['511, a login of the network', json('log in', 511), 'status', 'the server responded with 511: log in', 9],
  ['599', json('no', 599), 'status', 'the server responded with 599: no', 9],
  ['999', raw('HTTP/1.1 999 No', 'content-length: 0', '', ''), 'status', 'the server responded with 999', 9],
  ['000', raw('HTTP/1.1 000 No', 'content-length: 0', '', ''), 'status', 'the server responded with 0', 1],
  [
    'a status that is no number',
    raw('HTTP/1.1 abc No', '', ''),
    'connection',
    'the connection broke (HPE_INVALID_STATUS)',
    9,
  ],
];

const heads: readonly Case[] = [
  [
    'a length that is too long',
    raw('HTTP/1.1 200 OK', 'content-type: application/json', 'content-length: 5000', '', good),
    'connection',
    'the connection broke (ECONNRESET)',
    9,
  ],
  [
    'a length that is too short',
    raw('HTTP/1.1 200 OK', 'content-type: application/json', 'content-length: 10', '', good),
    'cut',
    'the response is not complete, valid JSON: 10 bytes received',
    9,
  ],
  [
    'a negative length',
    raw('HTTP/1.1 200 OK', 'content-type: application/json', 'content-length: -1', '', good),
    'connection',
    'the connection broke (HPE_INVALID_CONTENT_LENGTH)',
    9,
  ],
  [
    'a length of 40 digits',
    raw('HTTP/1.1 200 OK', 'content-type: application/json', `content-length: ${'9'.repeat(40)}`, '', good),
    'connection',
    'the connection broke (HPE_INVALID_CONTENT_LENGTH)',
    9,
  ],
  [
    'two lengths',
    raw(
      'HTTP/1.1 200 OK',
      'content-type: application/json',
      'content-length: 10',
      'content-length: 11',
      '',
      good,
    ),
    'connection',
    'the connection broke (HPE_UNEXPECTED_CONTENT_LENGTH)',
    9,
  ],
  [
    'a length and chunks',
    raw(
      'HTTP/1.1 200 OK',
      'content-type: application/json',
      'content-length: 10',
      'transfer-encoding: chunked',
      '',
      '0',
      '',
      '',
    ),
    'connection',
    /^the connection broke \(HPE_/,
    9,
  ],
  [
    'chunks that are none',
    raw(
      'HTTP/1.1 200 OK',
      'content-type: application/json',
      'transfer-encoding: chunked',
      '',
      'zz',
      'hello',
      '',
    ),
    'connection',
    'the connection broke (ECONNRESET)',
    9,
  ],
  [
    'a chunk of 2^64 bytes',
    raw(
      'HTTP/1.1 200 OK',
      'content-type: application/json',
      'transfer-encoding: chunked',
      '',
      'ffffffffffffffff1',
      'x',
    ),
    'connection',
    'the connection broke (ECONNRESET)',
    9,
  ],
  [
    'chunks without the last one',
    raw('HTTP/1.1 200 OK', 'content-type: application/json', 'transfer-encoding: chunked', '', '2', '{}', ''),
    'connection',
    'the connection broke (ECONNRESET)',
    9,
  ],
  [
    'a header of 100,000 characters',
    raw('HTTP/1.1 200 OK', `x: ${'a'.repeat(100_000)}`, '', ''),
    'connection',
    'the connection broke (HPE_HEADER_OVERFLOW)',
    9,
  ],
  [
    '10,000 headers',
    raw('HTTP/1.1 200 OK', ...Array.from({ length: 10_000 }, (_, at) => `x${at}: 1`), '', ''),
    'connection',
    'the connection broke (HPE_HEADER_OVERFLOW)',
    9,
  ],
  [
    'a line feed in a header',
    raw('HTTP/1.1 200 OK', 'x: a\nSet-Cookie: b', 'content-length: 2', '', '{}'),
    'connection',
    /^the connection broke \(HPE_/,
    9,
  ],
  [
    'a NUL in a header',
    raw('HTTP/1.1 200 OK', 'x: a\0b', 'content-length: 2', '', '{}'),
    'connection',
    'the connection broke (HPE_INVALID_HEADER_TOKEN)',
    9,
  ],
  [
    'a space in the name of a header',
    raw('HTTP/1.1 200 OK', 'content length: 2', '', '{}'),
    'connection',
    'the connection broke (HPE_INVALID_HEADER_TOKEN)',
    9,
  ],
  ['HTTP 0.9', raw(good), 'connection', 'the connection broke (HPE_INVALID_CONSTANT)', 9],
  [
    'HTTP 2',
    raw('HTTP/2.0 200 OK', '', good),
    'not-json',
    /^the server responded with 200 and no content type /,
    5,
  ],
];

const bodies: readonly Case[] = [
  [
    'gzip of 100 MB of zeros',
    encoded(gzipSync(Buffer.alloc(100_000_000)), 'gzip'),
    'too-large',
    `the response is larger than ${MAX_BYTES} bytes`,
    1,
  ],
  [
    'deflate of 10 MB of zeros',
    encoded(deflateSync(Buffer.alloc(10_000_000)), 'deflate'),
    'too-large',
    `the response is larger than ${MAX_BYTES} bytes`,
    1,
  ],
  [
    'Brotli of 10 MB of zeros',
    encoded(brotliCompressSync(Buffer.alloc(10_000_000)), 'br'),
    'too-large',
    `the response is larger than ${MAX_BYTES} bytes`,
    1,
  ],
  [
    'gzip of gzip',
    encoded(gzipSync(gzipSync(good)), 'gzip'),
    'cut',
    /^the response is not complete, valid JSON: \d+ bytes received$/,
    9,
  ],
  [
    'two encodings',
    encoded(gzipSync(gzipSync(good)), 'gzip, gzip'),
    'not-json',
    /content encoded as gzip, gzip instead of JSON/,
    5,
  ],
  [
    'a byte that is not UTF-8',
    bytes(Buffer.from('7b2261223a22ff227d', 'hex'), inJson),
    'cut',
    'the response is not complete, valid JSON: 9 bytes received',
    9,
  ],
  ['UTF-16', bytes(Buffer.from(good, 'utf16le'), inJson), 'cut', /valid JSON: \d+ bytes received$/, 9],
  ['NUL after the end', bytes(`${good}\0`, inJson), 'cut', /valid JSON: \d+ bytes received$/, 9],
  ['two pages in one', bytes(good + good, inJson), 'cut', /valid JSON: \d+ bytes received$/, 9],
  ['nothing', bytes('', inJson), 'cut', 'the response is not complete, valid JSON: 0 bytes received', 9],
  ['NaN', bytes('{"results":[],"totalHits":NaN}', inJson), 'cut', /valid JSON: 30 bytes received$/, 9],
  [
    'null',
    bytes('null', inJson),
    'shape',
    /^the response does not match the contract: the response: expected an object/,
    1,
  ],
  [
    'a list',
    bytes('[]', inJson),
    'shape',
    /^the response does not match the contract: the response: expected an object/,
    1,
  ],
  [
    'a number beyond all limits',
    bytes('{"results":[],"totalHits":1e400}', inJson),
    'shape',
    /^the response does not match the contract: totalHits: /,
    1,
  ],
  [
    'the same name twice, the last of another type',
    bytes('{"results":[],"results":7}', inJson),
    'shape',
    /^the response does not match the contract: results: /,
    1,
  ],
];

const waits: readonly Case[] = [
  ...['-1', '+5', '1e9', '0x10', 'soon', '', '\t', '2026-01-01', 'NaN', '1,2'].map(
    (value): Case => [
      `${JSON.stringify(value)}, ignored`,
      retryAfter(value),
      'status',
      'the server responded with 503: busy',
      9,
    ],
  ),
  ...['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 0001 00:00:00 GMT', '0'].map(
    (value): Case => [
      `${value}, immediately`,
      retryAfter(value),
      'status',
      'the server responded with 503: busy',
      9,
    ],
  ),
  ...['301', '9'.repeat(20), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT', '99999.99999'].flatMap(
    (value): Case[] => [
      [
        `503 with ${value.slice(0, 30)}, not waited for`,
        retryAfter(value),
        'status',
        'the server responded with 503: busy',
        1,
      ],
      [
        `429 with ${value.slice(0, 30)}, not waited for`,
        retryAfter(value, 429),
        'status',
        'the server responded with 429: busy',
        1,
      ],
    ],
  ),
];

describe.each([
  ['status', statuses],
  ['head', heads],
  ['body', bodies],
  ['Retry-After', waits],
] as const)('hostile %s', (_, cases) => {
  test.for(cases)('%s', async ([, reply, kind, says, attempts]) => {
    await using server = await startServer(reply);
    const startedAt = performance.now();

    const error = await caught(platformAt(server.url).calculations.search({ sort }));

    const [, message = ''] =
      /^searchCalculations \(calculations from 0\) failed(?: after \d+ attempts)?: (.*)$/s.exec(
        error.message,
      ) ?? [];
    expect({ kind: error.failure.kind, message, attempts: error.attempts }).toEqual({
      kind,
      message: typeof says === 'string' ? says : expect.stringMatching(says),
      attempts,
    });
    expect(server.requests).toHaveLength(attempts);
    expect((performance.now() - startedAt) / 1000).toBeLessThan(MOST_SECONDS);
  });
});

describe('a response is read as usual', () => {
  test.for<readonly [string, Reply]>([
    [
      'after 100',
      raw('HTTP/1.1 100 Continue', '', 'HTTP/1.1 200 OK', 'content-type: application/json', '', good),
    ],
    [
      'after 103',
      raw(
        'HTTP/1.1 103 Early Hints',
        'link: </x>',
        '',
        'HTTP/1.1 200 OK',
        'content-type: application/json',
        '',
        good,
      ),
    ],
    ['with a byte order mark', bytes(`\uFEFF${good}`, inJson)],
    ['in deflate, though not asked for', encoded(deflateSync(good), 'deflate')],
    ['in Brotli, though not asked for', encoded(brotliCompressSync(good), 'br')],
    [
      'with an escaped NUL in a name',
      bytes(good.replace('"results"', String.raw`"a\u0000":1,"results"`), inJson),
    ],
    ['with the same name twice', bytes(good.replace('"results"', '"results":7,"results"'), inJson)],
  ])('%s', async ([, reply]) => {
    await using server = await startServer(reply);

    const response = await platformAt(server.url).calculations.search({ sort });

    expect(response.results).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });

  test('an empty object, which has no rows', async () => {
    await using server = await startServer(json({}));

    expect(await platformAt(server.url).calculations.search({ sort })).toEqual({});
  });
});

describe('an attempt ends at its limit of time', () => {
  const endlessHeaders: Reply = ({ socket }) => {
    socket?.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket?.write('x: 1\r\n'), 10);
    socket?.on('error', () => {});
    socket?.on('close', () => clearInterval(timer));
  };

  test.for([
    ['headers without end', endlessHeaders],
    ['a body that trickles without end', trickle],
  ] as const)('%s', async ([, reply]) => {
    await using server = await startServer(reply);
    const startedAt = performance.now();

    const error = await caught(platformAt(server.url, { timeoutMs: 50 }).calculations.search({ sort }));

    expect(error.failure).toEqual({ kind: 'timeout', timeoutMs: 50, phase: 'exchange' });
    expect(error.attempts).toBe(9);
    expect((performance.now() - startedAt) / 1000).toBeLessThan(MOST_SECONDS);
  });
});

describe('a proxy that does not connect', () => {
  test.for([
    ['302 Found', 302, '', 1],
    ['403 Forbidden', 403, '', 1],
    [
      '407 Proxy Authentication Required',
      407,
      '. Does HTTPS_PROXY have the user and password that the proxy requires?',
      1,
    ],
    ['429 Too Many Requests', 429, '', 9],
    ['503 Service Unavailable', 503, '', 9],
  ] as const)('%s', async ([refuse, proxyStatus, hint, attempts]) => {
    await using proxy = await startProxy({ refuse });
    const platform = platformAt('https://platform.invalid', { proxyUrl: proxy.url });

    const error = await caught(platform.calculations.search({ sort }));

    expect(error).toMatchObject({ attempts, sent: false, failure: { kind: 'connection', proxyStatus } });
    expect(error.message).toMatch(/: the proxy responded with \d+ and did not connect/);
    expect(error.message.endsWith(`the proxy responded with ${proxyStatus} and did not connect${hint}`)).toBe(
      true,
    );
    expect(proxy.connects).toHaveLength(attempts);
  });
});

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { printJson } from '../../../lib/base/json/json.ts';
import { calculationRow, calculations } from '../../platform/sample-records.ts';
import { bytes, json, type Reply, rawBytes, redirect, trickle } from '../../platform/scripted-server.ts';
import type { CommandCase } from '../command-case.ts';

/*
 * Hostile responses to a command that searches for a calculation: what it says first, and how many requests it sends.
 */

const inJson = { 'content-type': 'application/json' };
const MAX_BYTES = 1_000_000;

const raw = (...lines: readonly string[]): Reply => rawBytes(lines.join('\r\n'));
const encoded = (body: Uint8Array, encoding: string) =>
  bytes(body, { ...inJson, 'content-encoding': encoding });
const good = printJson(calculations(calculationRow()));
const retryAfter = (value: string, status = 503) =>
  json({ message: 'busy' }, status, { 'retry-after': value });

/** So many megabytes of zeros, packed only when they are requested. */
const bomb =
  (pack: (body: Uint8Array) => Buffer, encoding: string, megabytes: number): Reply =>
  (...given) =>
    encoded(pack(Buffer.alloc(megabytes * 1_000_000)), encoding)(...given);

/** What is tried, and how it ends: the message after the operation, and the number of requests. */
type Case = readonly [name: string, reply: Reply, says: string | RegExp, requests: number];

const status = (what: string) => `the server responded with ${what}`;
const broke = (code: string) => `the connection broke (${code})`;
const cut = (bytes: number) => `the response is not complete, valid JSON: ${bytes} bytes received`;
const LARGE = `the response is larger than ${MAX_BYTES} bytes`;
const NO_OBJECT = /^the response does not match the contract: the response: expected an object/;
const NOT_FOLLOWED = ', which is not followed: is the address correct, and allowed from here?';
const rawJson = (...lines: readonly string[]) =>
  raw('HTTP/1.1 200 OK', 'content-type: application/json', ...lines);

const statuses: readonly Case[] = [
  [
    '101, not requested',
    raw('HTTP/1.1 101 Switching Protocols', 'connection: upgrade', 'upgrade: x', '', ''),
    broke('ECONNRESET'),
    9,
  ],
  ['100 and then nothing', raw('HTTP/1.1 100 Continue', '', ''), broke('ECONNRESET'), 9],
  [
    '103 without end',
    raw(...Array.from({ length: 500 }, () => 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n'), ''),
    broke('ECONNRESET'),
    9,
  ],
  [
    '204',
    bytes('', {}, 204),
    status('204 and no content type instead of JSON: is the address correct, and allowed from here?'),
    5,
  ],
  [
    '204 with a body',
    raw('HTTP/1.1 204 No Content', 'content-type: application/json', 'content-length: 2', '', '{}'),
    cut(0),
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
    status('206, a part of a response, which was not requested'),
    1,
  ],
  [
    '206 with a range that reads as JSON',
    bytes(good, { ...inJson, 'content-range': 'bytes 0-999/2000' }, 206),
    status('206, a part of a response, which was not requested'),
    1,
  ],
  ['300', redirect(300, 'https://a.invalid/x'), `redirected (300) to https://a.invalid/x${NOT_FOLLOWED}`, 1],
  [
    '301',
    redirect(301, 'https://a.invalid/x?token=1'),
    `redirected (301) to https://a.invalid/x${NOT_FOLLOWED}`,
    1,
  ],
  ['302', redirect(302, 'https://a.invalid/x'), /^redirected \(302\) to https:\/\/a\.invalid\/x, /, 5],
  ['302 without a location', bytes('', {}, 302), /^redirected \(302\) to nowhere, /, 5],
  [
    '302 to a script',
    redirect(302, 'javascript:alert(1)'),
    /^redirected \(302\) to an address of javascript:, /,
    5,
  ],
  ['303', redirect(303, '/login'), /^redirected \(303\) to http:\/\/127\.0\.0\.1:\d+\/login, /, 5],
  [
    '304',
    bytes('', {}, 304),
    status('304 (not modified), which was not requested: is there a cache in between?'),
    1,
  ],
  ['305', redirect(305, 'http://proxy.invalid/'), /^redirected \(305\) to /, 1],
  ['307', redirect(307, '//a.invalid'), /^redirected \(307\) to http:\/\/a\.invalid\/, /, 5],
  ['308', redirect(308, 'https://a.invalid/'), /^redirected \(308\) to https:\/\/a\.invalid\/, /, 1],
  [
    '407',
    json({ message: 'who?' }, 407),
    status('407: who?. Does HTTPS_PROXY have the user and password that the proxy requires?'),
    1,
  ],
  [
    '418 with a page',
    bytes('<html><title>tea</title>', { 'content-type': 'text/html' }, 418),
    status('418: a page titled “tea”'),
    1,
  ],
  ['421', json('no', 421), status('421: no'), 1],
  ['511, a login of the network', json('log in', 511), status('511: log in'), 9],
  ['599', json('no', 599), status('599: no'), 9],
  // Or a retry might take the connection that the server is closing.
  ['999', raw('HTTP/1.1 999 No', 'content-length: 0', 'connection: close', '', ''), status('999'), 9],
  ['000', raw('HTTP/1.1 000 No', 'content-length: 0', '', ''), status('0'), 1],
  ['a status that is no number', raw('HTTP/1.1 abc No', '', ''), broke('HPE_INVALID_STATUS'), 9],
];

const heads: readonly Case[] = [
  ['a length that is too long', rawJson('content-length: 5000', '', good), broke('ECONNRESET'), 9],
  ['a length that is too short', rawJson('content-length: 10', '', good), cut(10), 9],
  ['a negative length', rawJson('content-length: -1', '', good), broke('HPE_INVALID_CONTENT_LENGTH'), 9],
  [
    'a length of 40 digits',
    rawJson(`content-length: ${'9'.repeat(40)}`, '', good),
    broke('HPE_INVALID_CONTENT_LENGTH'),
    9,
  ],
  [
    'two lengths',
    rawJson('content-length: 10', 'content-length: 11', '', good),
    broke('HPE_UNEXPECTED_CONTENT_LENGTH'),
    9,
  ],
  [
    'a length and chunks',
    rawJson('content-length: 10', 'transfer-encoding: chunked', '', '0', '', ''),
    /^the connection broke \(HPE_/,
    9,
  ],
  [
    'chunks that are none',
    rawJson('transfer-encoding: chunked', '', 'zz', 'hello', ''),
    broke('ECONNRESET'),
    9,
  ],
  [
    'a chunk of 2^64 bytes',
    rawJson('transfer-encoding: chunked', '', 'ffffffffffffffff1', 'x'),
    broke('ECONNRESET'),
    9,
  ],
  [
    'chunks without the last one',
    rawJson('transfer-encoding: chunked', '', '2', '{}', ''),
    broke('ECONNRESET'),
    9,
  ],
  [
    'a header of 100,000 characters',
    raw('HTTP/1.1 200 OK', `x: ${'a'.repeat(100_000)}`, '', ''),
    broke('HPE_HEADER_OVERFLOW'),
    9,
  ],
  [
    '10,000 headers',
    raw('HTTP/1.1 200 OK', ...Array.from({ length: 10_000 }, (_, at) => `x${at}: 1`), '', ''),
    broke('HPE_HEADER_OVERFLOW'),
    9,
  ],
  [
    'a line feed in a header',
    raw('HTTP/1.1 200 OK', 'x: a\nSet-Cookie: b', 'content-length: 2', '', '{}'),
    /^the connection broke \(HPE_/,
    9,
  ],
  [
    'a NUL in a header',
    raw('HTTP/1.1 200 OK', 'x: a\0b', 'content-length: 2', '', '{}'),
    broke('HPE_INVALID_HEADER_TOKEN'),
    9,
  ],
  [
    'a space in the name of a header',
    raw('HTTP/1.1 200 OK', 'content length: 2', '', '{}'),
    broke('HPE_INVALID_HEADER_TOKEN'),
    9,
  ],
  ['HTTP 0.9', raw(good), broke('HPE_INVALID_CONSTANT'), 9],
  ['HTTP 2', raw('HTTP/2.0 200 OK', '', good), /^the server responded with 200 and no content type /, 5],
];

const bodies: readonly Case[] = [
  ['gzip of 100 MB of zeros', bomb(gzipSync, 'gzip', 100), LARGE, 1],
  ['deflate of 10 MB of zeros', bomb(deflateSync, 'deflate', 10), LARGE, 1],
  ['Brotli of 10 MB of zeros', bomb(brotliCompressSync, 'br', 10), LARGE, 1],
  [
    'gzip of gzip',
    encoded(gzipSync(gzipSync(good)), 'gzip'),
    /^the response is not complete, valid JSON: \d+ bytes received$/,
    9,
  ],
  [
    'two encodings',
    encoded(gzipSync(gzipSync(good)), 'gzip, gzip'),
    /content encoded as gzip, gzip instead of JSON/,
    5,
  ],
  ['a byte that is not UTF-8', bytes(Buffer.from('7b2261223a22ff227d', 'hex'), inJson), cut(9), 9],
  ['UTF-16', bytes(Buffer.from(good, 'utf16le'), inJson), /valid JSON: \d+ bytes received$/, 9],
  ['NUL after the end', bytes(`${good}\0`, inJson), /valid JSON: \d+ bytes received$/, 9],
  ['two pages in one', bytes(good + good, inJson), /valid JSON: \d+ bytes received$/, 9],
  ['nothing', bytes('', inJson), cut(0), 9],
  ['NaN', bytes('{"results":[],"totalHits":NaN}', inJson), /valid JSON: 30 bytes received$/, 9],
  ['null', bytes('null', inJson), NO_OBJECT, 1],
  ['a list', bytes('[]', inJson), NO_OBJECT, 1],
  [
    'a number beyond all limits',
    bytes('{"results":[],"totalHits":1e400}', inJson),
    /^the response does not match the contract: totalHits: /,
    1,
  ],
  [
    'the same name twice, the last of another type',
    bytes('{"results":[],"results":7}', inJson),
    /^the response does not match the contract: results: /,
    1,
  ],
];

const waits: readonly Case[] = [
  ...['-1', '+5', '1e9', '0x10', 'soon', '', '\t', '2026-01-01', 'NaN', '1,2'].map(
    (value): Case => [`${JSON.stringify(value)}, ignored`, retryAfter(value), status('503: busy'), 9],
  ),
  ...['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 0001 00:00:00 GMT', '0'].map(
    (value): Case => [`${value}, immediately`, retryAfter(value), status('503: busy'), 9],
  ),
  ...['301', '9'.repeat(20), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT', '99999.99999'].flatMap(
    (value) =>
      [503, 429].map(
        (code): Case => [
          `${code} with ${value.slice(0, 30)}, not waited for`,
          retryAfter(value, code),
          status(`${code}: busy`),
          1,
        ],
      ),
  ),
];

const endlessHeaders: Reply = ({ socket }) => {
  socket?.write('HTTP/1.1 200 OK\r\n');
  const timer = setInterval(() => socket?.write('x: 1\r\n'), 10);
  socket?.on('error', () => {});
  socket?.on('close', () => clearInterval(timer));
};

const slow: readonly Case[] = [
  ['headers without end', endlessHeaders, 'no complete response within 0.1 s', 9],
  ['a body that trickles without end', trickle, 'no complete response within 0.1 s', 9],
];

const SEARCH = ['formula', 'set', '1', '{folder}/formula', '--unless-changed-since', '0', '--name', 'x'];

const search = {
  argv: SEARCH,
  files: { formula: '1' },
  code: 1,
} as const;

const settings = {
  PLATFORM_BASE_URL: '{server}',
  PLATFORM_RATE: '10000',
  PLATFORM_TIMEOUT_MS: '5000',
  PLATFORM_MAX_RESPONSE_BYTES: String(MAX_BYTES),
  LOG_LEVEL: 'error',
};

/** The first line for a message, whole if it is a text. */
function failed(says: string | RegExp, requests: number): RegExp {
  const message =
    typeof says === 'string' ? `${RegExp.escape(says)}(\\n  [^\\n]+)?$` : says.source.replace(/^\^/, '');
  const start = typeof says === 'string' || says.source.startsWith('^') ? '' : '.*';
  const tries = requests > 1 ? ` after ${requests} attempts` : '';
  return new RegExp(
    `^platform-sync: searchCalculations \\(calculations from 0\\) at \\S+ failed${tries}: ${start}${message}`,
  );
}

const answered = (what: string, cases: readonly Case[], more: Readonly<Record<string, string>> = {}) =>
  cases.map(
    ([name, reply, says, requests]): CommandCase => ({
      ...search,
      name: `${what}: ${name}`,
      settings: { ...settings, ...more },
      reply,
      requests,
      says: failed(says, requests),
    }),
  );

const PROXY_HINT = '. Does HTTPS_PROXY have the user and password that the proxy requires?';

const proxies = (
  [
    ['302 Found', 302, '', 1],
    ['403 Forbidden', 403, '', 1],
    ['407 Proxy Authentication Required', 407, PROXY_HINT, 1],
    ['429 Too Many Requests', 429, '', 9],
    ['503 Service Unavailable', 503, '', 9],
  ] as const
).map(
  ([refuses, status, hint, requests]): CommandCase => ({
    ...search,
    name: `a proxy that does not connect: ${refuses}`,
    settings: { ...settings, PLATFORM_BASE_URL: 'https://platform.invalid', HTTPS_PROXY: '{server}' },
    proxyRefuses: refuses,
    requests,
    says: failed(`the proxy responded with ${status} and did not connect${hint}`, requests),
  }),
);

export const responseCases: readonly CommandCase[] = [
  ...answered('status', statuses),
  ...answered('head', heads),
  ...answered('body', bodies),
  ...answered('Retry-After', waits),
  ...answered('time', slow, { PLATFORM_TIMEOUT_MS: '60' }),
  ...proxies,
];

import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { printJson } from '../../../lib/base/json/json.ts';
import { calculationRow, calculations } from '../../platform/sample-records.ts';
import { bytes, json, type Reply, rawBytes, redirect, trickle } from '../../platform/scripted-server.ts';
import type { CommandCase } from '../command-case.ts';

/* Hostile responses to a command that searches for a calculation, with its first error line and its number of requests. */

const inJson = { 'content-type': 'application/json' };
const MAX_BYTES = 1_000_000;

const raw = (...lines: readonly string[]): Reply => rawBytes(lines.join('\r\n'));
const encoded = (body: Uint8Array, encoding: string) =>
  bytes(body, { ...inJson, 'content-encoding': encoding });
const good = printJson(calculations(calculationRow()));
const retryAfter = (value: string, status: number) =>
  json({ message: 'busy' }, status, { 'retry-after': value });

/** A response of this number of megabytes of zeros, compressed only when it is requested. */
const bomb =
  (pack: (body: Uint8Array) => Buffer, encoding: string, megabytes: number): Reply =>
  (...given) =>
    encoded(pack(Buffer.alloc(megabytes * 1_000_000)), encoding)(...given);

type Case = Pick<CommandCase, 'name' | 'reply' | 'requests' | 'says'>;

/** Replies with the same outcome: the message after the operation's name, and the number of requests. */
const ends = (says: string | RegExp, requests: number, replies: Readonly<Record<string, Reply>>) =>
  Object.entries(replies).map(
    ([name, reply]): Case => ({ name, reply, requests, says: failed(says, requests) }),
  );

const status = (what: string) => `the server responded with ${what}`;
const broke = (code: string) => `the connection broke (${code})`;
const cut = (bytes: number) => `the response is not complete, valid JSON: ${bytes} bytes received`;
const BROKEN = /^the response is not complete, valid JSON: \d+ bytes received$/;
const rawJson = (...lines: readonly string[]) =>
  raw('HTTP/1.1 200 OK', 'content-type: application/json', ...lines);

const statuses: readonly Case[] = [
  ...ends(broke('ECONNRESET'), 9, {
    '101, not requested': raw(
      'HTTP/1.1 101 Switching Protocols',
      'connection: upgrade',
      'upgrade: x',
      '',
      '',
    ),
    '100 and then nothing': raw('HTTP/1.1 100 Continue', '', ''),
    '103 without end': raw('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(500)),
  }),
  ...ends(status('206 (a part of a response), which was not requested'), 1, {
    '206 with half of a page': bytes('{"results"', { ...inJson, 'content-range': 'bytes 0-9/99' }, 206),
    '206 with a range that reads as JSON': bytes(
      good,
      { ...inJson, 'content-range': 'bytes 0-999/2000' },
      206,
    ),
  }),
  ...ends(
    status('304 (not modified), which was not requested; check whether there is a cache in between'),
    1,
    {
      304: bytes('', {}, 304),
    },
  ),
  ...ends(status('407: who?; check that HTTPS_PROXY has the user and password that the proxy requires'), 1, {
    407: json({ message: 'who?' }, 407),
  }),
  ...ends(status('418: a page titled “tea”'), 1, {
    '418 with a page': bytes('<html><title>tea</title>', { 'content-type': 'text/html' }, 418),
  }),
  ...ends(status('421: no'), 1, { 421: json('no', 421) }),
  ...ends(status('511: log in'), 9, { '511, a login of the network': json('log in', 511) }),
  ...ends(status('599: no'), 9, { 599: json('no', 599) }),
  // Otherwise a retry might use the connection that the server is closing.
  ...ends(status('999'), 9, {
    999: raw('HTTP/1.1 999 No', 'content-length: 0', 'connection: close', '', ''),
  }),
  ...ends(status('0'), 1, { '000': raw('HTTP/1.1 000 No', 'content-length: 0', '', '') }),
  ...ends(broke('HPE_INVALID_STATUS'), 9, { 'a status that is no number': raw('HTTP/1.1 abc No', '', '') }),
];

/** The status, the address, the part of it that is shown, and the number of requests. */
const REDIRECTS = [
  [300, 'https://a.invalid/x', String.raw`https://a\.invalid/x`, 1],
  [301, 'https://a.invalid/x?token=1', String.raw`https://a\.invalid/x`, 1],
  [302, 'https://a.invalid/x', String.raw`https://a\.invalid/x`, 5],
  [302, 'javascript:alert(1)', 'an address of javascript:', 5],
  [303, '/login', String.raw`http://127\.0\.0\.1:\d+/login`, 5],
  [305, 'http://proxy.invalid/', String.raw`http://proxy\.invalid/`, 1],
  [307, '//a.invalid', String.raw`http://a\.invalid/`, 5],
  [308, 'https://a.invalid/', String.raw`https://a\.invalid/`, 1],
] as const;

const redirects = REDIRECTS.map(([code, address, shown, requests]): Case => {
  const says = new RegExp(
    `^redirected \\(${code}\\) to ${shown}, which is not followed; check that the address `,
  );
  return {
    name: `${code} to ${address}`,
    reply: redirect(code, address),
    requests,
    says: failed(says, requests),
  };
});

const heads: readonly Case[] = [
  ...ends(broke('ECONNRESET'), 9, {
    'a length that is too long': rawJson('content-length: 5000', '', good),
    'chunks that are none': rawJson('transfer-encoding: chunked', '', 'zz', 'hello', ''),
    'a chunk of 2^64 bytes': rawJson('transfer-encoding: chunked', '', 'ffffffffffffffff1', 'x'),
    'chunks without the last one': rawJson('transfer-encoding: chunked', '', '2', '{}', ''),
  }),
  ...ends(cut(10), 9, { 'a length that is too short': rawJson('content-length: 10', '', good) }),
  ...ends(broke('HPE_INVALID_CONTENT_LENGTH'), 9, {
    'a negative length': rawJson('content-length: -1', '', good),
    'a length of 40 digits': rawJson(`content-length: ${'9'.repeat(40)}`, '', good),
  }),
  ...ends(broke('HPE_UNEXPECTED_CONTENT_LENGTH'), 9, {
    'two lengths': rawJson('content-length: 10', 'content-length: 11', '', good),
  }),
  ...ends(/^the connection broke \(HPE_/, 9, {
    'a length and chunks': rawJson('content-length: 10', 'transfer-encoding: chunked', '', '0', '', ''),
    'a line feed in a header': raw('HTTP/1.1 200 OK', 'x: a\nSet-Cookie: b', 'content-length: 2', '', '{}'),
  }),
  ...ends(broke('HPE_HEADER_OVERFLOW'), 9, {
    'a header of 100,000 characters': raw('HTTP/1.1 200 OK', `x: ${'a'.repeat(100_000)}`, '', ''),
    '30,000 headers': raw(
      'HTTP/1.1 200 OK',
      ...Array.from({ length: 30_000 }, (_, at) => `x${at}: 1`),
      '',
      '',
    ),
  }),
  ...ends(broke('HPE_INVALID_HEADER_TOKEN'), 9, {
    'a NUL in a header': raw('HTTP/1.1 200 OK', 'x: a\0b', 'content-length: 2', '', '{}'),
    'a space in the name of a header': raw('HTTP/1.1 200 OK', 'content length: 2', '', '{}'),
  }),
  ...ends(broke('HPE_INVALID_CONSTANT'), 9, { 'HTTP 0.9': raw(good) }),
];

const bodies: readonly Case[] = [
  ...ends(`the response is larger than ${MAX_BYTES} bytes`, 1, {
    'gzip of 100 MB of zeros': bomb(gzipSync, 'gzip', 100),
    'deflate of 10 MB of zeros': bomb(deflateSync, 'deflate', 10),
    'Brotli of 10 MB of zeros': bomb(brotliCompressSync, 'br', 10),
  }),
  ...ends(/content encoded as compress instead of JSON/, 5, {
    'an encoding that is not known': encoded(Buffer.from('1f9d90', 'hex'), 'compress'),
  }),
  ...ends(BROKEN, 9, {
    'UTF-16': bytes(Buffer.from(good, 'utf16le'), inJson),
    'two pages in one': bytes(good + good, inJson),
    nothing: bytes('', inJson),
  }),
  ...ends(/^the response does not match the contract: the response: expected an object/, 1, {
    'a list': bytes('[]', inJson),
  }),
  ...ends(/^the response does not match the contract: results: /, 1, {
    'the same name twice, the last of another type': bytes('{"results":[],"results":7}', inJson),
  }),
];

/** Unusual responses that are still empty lists: the calculation is not found. */
const nothing: readonly Case[] = Object.entries({
  204: bytes('', {}, 204),
  '204 with a body': raw(
    'HTTP/1.1 204 No Content',
    'content-type: application/json',
    'content-length: 2',
    '',
    '{}',
  ),
  null: bytes('null', inJson),
  'two encodings': encoded(gzipSync(gzipSync(good)), 'gzip, gzip'),
  'gzip of gzip': encoded(gzipSync(gzipSync(good)), 'gzip'),
  'a byte that is not UTF-8': bytes(Buffer.from(good.replace('{', '{"a":"\xff",'), 'latin1'), inJson),
  'NUL after the end': bytes(`${good}\0`, inJson),
  NaN: bytes('{"results":[],"totalHits":NaN}', inJson),
  'no content type': raw('HTTP/2.0 200 OK', '', good),
  'a total beyond all limits': bytes('{"results":[],"totalHits":1e400}', inJson),
}).map(([name, reply]) => ({
  ...{ name, reply, requests: 1 },
  says: /^platform-sync: calculation 1: a search for the name "x" did not find it/,
}));

/** Values of `Retry-After` that are longer than a call may take, and are not waited for. */
const LONG_WAITS = ['301', '99999.99999'];
/** Absurd values of `Retry-After`, which are ignored: a 503 is retried as usual (a 429 until the call's time is up). */
const ABSURD_WAITS = ['9'.repeat(20), '9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'];

/** Cases of `Retry-After`. Ignored values are tested in `test/platform/http/retry-after.test.ts`. */
const waits: readonly Case[] = [
  ...LONG_WAITS.flatMap((value) => [503, 429].map((code) => ({ code, value }))),
  ...ABSURD_WAITS.map((value) => ({ code: 503, value })),
].flatMap(({ code, value }) =>
  ends(status(`${code}: busy`), code === 503 && !LONG_WAITS.includes(value) ? 9 : 1, {
    [`${code} with ${value.slice(0, 30)}`]: retryAfter(value, code),
  }),
);

const endlessHeaders: Reply = ({ socket }) => {
  socket?.write('HTTP/1.1 200 OK\r\n');
  const timer = setInterval(() => socket?.write('x: 1\r\n'), 10);
  socket?.on('error', () => {});
  socket?.on('close', () => clearInterval(timer));
};

const slow = ends('no complete response within 0.1 s', 9, {
  'headers without end': endlessHeaders,
  'a body that trickles without end': trickle,
});

const SEARCH = [
  ...['formula', 'set', '1', '{folder}/formula', '--force'],
  ...['--unless-changed-since', '0', '--name', 'x'],
];

const search = { argv: SEARCH, files: { formula: '1' }, code: 1 } as const;

const settings = {
  PLATFORM_BASE_URL: '{server}',
  PLATFORM_RATE: '10000',
  PLATFORM_TIMEOUT_MS: '5000',
  PLATFORM_MAX_RESPONSE_BYTES: String(MAX_BYTES),
  LOG_LEVEL: 'error',
};

/** Matches the first error line with a message, completely if it is a text. */
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
    ({ name, ...rest }): CommandCase => ({
      ...search,
      ...rest,
      name: `${what}: ${name}`,
      settings: { ...settings, ...more },
    }),
  );

const PROXY_HINT = '; check that HTTPS_PROXY has the user and password that the proxy requires';

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
    says: failed(
      new RegExp(
        String.raw`^the proxy http://127\.0\.0\.1:\d+ responded with ${status} and did not connect${RegExp.escape(hint)}(\n  [^\n]+)?$`,
      ),
      requests,
    ),
  }),
);

export const responseCases: readonly CommandCase[] = [
  ...answered('status', [...statuses, ...redirects]),
  ...answered('head', heads),
  ...answered('body', bodies),
  ...answered('nothing to list', nothing),
  ...answered('Retry-After', waits),
  ...answered('time', slow, { PLATFORM_TIMEOUT_MS: '60' }),
  ...proxies,
];

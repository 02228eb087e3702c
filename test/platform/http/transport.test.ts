import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readAsJson } from '../../../lib/platform/http/transport.ts';
import { thrown } from '../caught.ts';
import { startMute } from '../mute-server.ts';
import {
  bytes,
  flood,
  json,
  page,
  rawBytes,
  redirect,
  reset,
  silence,
  startServer,
  trickle,
  unended,
} from '../scripted-server.ts';
import { sendOnce } from '../send-once.ts';

const gzipped = { 'content-type': 'application/json', 'content-encoding': 'gzip' };

describe('a successful response', () => {
  test('is returned as its text and its value', async () => {
    await using server = await startServer(json({ id: 9007199254740993n, name: 'ä' }));

    const result = await sendOnce(server.url);

    expect(result).toMatchObject({
      kind: 'response',
      status: 200,
      sizeBytes: 35,
      response: { text: '{"id":9007199254740993,"name":"ä"}', json: { id: 9007199254740993n, name: 'ä' } },
    });
  });

  test('may be compressed', async () => {
    await using server = await startServer(bytes(gzipSync('{"a":1}'), gzipped));

    const result = await sendOnce(server.url);

    expect(result).toMatchObject({ kind: 'response', sizeBytes: 7, response: { json: { a: 1 } } });
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip');
  });

  test.for(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/problem+json'])(
    'may have the type %s',
    async (contentType) => {
      await using server = await startServer(bytes('[]', { 'content-type': contentType }));

      const result = await sendOnce(server.url);

      expect(result).toMatchObject({ kind: 'response', response: { json: [] } });
    },
  );
});

test.each([
  [
    'nested too deeply',
    '['.repeat(100_000),
    'expected at most 512 levels of nested arrays and objects, got more',
  ],
  [
    'with an endless integer',
    `[${'7'.repeat(100_000)}]`,
    'expected integers of at most 1000 digits, got 100000',
  ],
])('a response %s is not valid', async (_name, text, fault) => {
  await using server = await startServer(bytes(text, { 'content-type': 'application/json' }));

  expect(await sendOnce(server.url)).toMatchObject({ failure: { kind: 'shape', faults: [fault] } });
});

describe('a redirect is never followed', () => {
  test.for([301, 302, 303, 307, 308])('with status %i', async (status) => {
    await using target = await startServer(json({}));
    await using server = await startServer(redirect(status, `${target.url}/login?session=hush#frag`));

    const result = await sendOnce(server.url);

    expect(result).toMatchObject({
      kind: 'failure',
      status,
      failure: { kind: 'redirect', status, to: `${target.url}/login` },
      sent: true,
    });
    expect(target.requests).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  test('without a location, or to an invalid address', async () => {
    await using server = await startServer(bytes('', {}, 302), redirect(302, 'http://['));

    const nowhere = await sendOnce(server.url);
    const wrong = await sendOnce(server.url);

    expect(nowhere).toMatchObject({ failure: { kind: 'redirect', to: 'nowhere' } });
    expect(wrong).toMatchObject({ failure: { kind: 'redirect', to: 'an address that cannot be read' } });
  });
});

const inJson = { 'content-type': 'application/json' };

test.for([
  ['plain text', bytes('{"a":1}', { 'content-type': 'text/plain; charset=utf-8' })],
  ['no type', bytes('\ufeff {"a":1}\n')],
  ['bytes', bytes('{"a":1}', { 'content-type': 'application/octet-stream' })],
  ['bytes of S3', bytes('{"a":1}', { 'content-type': 'binary/octet-stream' })],
  ['a page', bytes('{"a":1}', { 'content-type': 'text/html; charset=utf-8' })],
  ['XML', bytes('{"a":1}', { 'content-type': 'application/xml' })],
  ['a script', bytes('{"a":1}', { 'content-type': 'application/x-javascript' })],
  ['a word', bytes('{"a":1}', { 'content-type': 'json' })],
  ['any type', bytes('{"a":1}', { 'content-type': '*/*' })],
  ['UTF-16 with its mark', bytes(Buffer.from('\ufeff{"a":1}', 'utf16le'), inJson)],
  [
    'UTF-16 by its type',
    bytes(Buffer.from('{"a":1}', 'utf16le'), { 'content-type': 'application/json; charset="UTF-16LE"' }),
  ],
  ['an encoding without a name', bytes('{"a":1}', { ...inJson, 'content-encoding': '' })],
  ['the encoding none', bytes('{"a":1}', { ...inJson, 'content-encoding': 'none' })],
  ['the encoding utf-8', bytes('{"a":1}', { ...inJson, 'content-encoding': 'UTF-8' })],
  [
    'an encoding that is an own name of objects',
    bytes('{"a":1}', { ...inJson, 'content-encoding': 'constructor' }),
  ],
  ['gzip in gzip', bytes(gzipSync(gzipSync('{"a":1}')), { ...inJson, 'content-encoding': 'gzip, GZIP' })],
  ['gzip beside identity', bytes(gzipSync('{"a":1}'), { ...inJson, 'content-encoding': 'identity, gzip' })],
  ['gzip that a proxy has decoded', bytes('{"a":1}', gzipped)],
  ['gzip without its name', bytes(gzipSync('{"a":1}'), inJson)],
  ['deflate', bytes(deflateSync('{"a":1}'), { ...inJson, 'content-encoding': 'deflate' })],
  [
    'deflate without its head',
    bytes(deflateRawSync('{"a":1}'), { ...inJson, 'content-encoding': 'deflate' }),
  ],
  ['deflate that a proxy has decoded', bytes('{"a":1}', { ...inJson, 'content-encoding': 'deflate' })],
  ['zstd', bytes(zstdCompressSync('{"a":1}'), { ...inJson, 'content-encoding': 'zstd' })],
  ['Brotli', bytes(brotliCompressSync('{"a":1}'), { ...inJson, 'content-encoding': 'br' })],
  [
    'a response with a head of 50 KB',
    bytes('{"a":1}', { ...inJson, 'content-security-policy': 'x'.repeat(50_000) }),
  ],
  ['JSON with NULs behind it', bytes('{"a":1}\0\0\n', inJson)],
  ['a kind of JSON', bytes('\ufeff{"a":1}', { 'content-type': 'application/vnd.acme.v1+json' })],
] as const)('JSON encoded as %s is read as JSON', async ([, reply]) => {
  await using server = await startServer(reply);

  expect(await sendOnce(server.url)).toMatchObject({ kind: 'response', response: { json: { a: 1 } } });
});

test('JSON with common mistakes is repaired, and counted as odd', async () => {
  const careless = '{"a":NaN,"b":[-Infinity,Infinity],"c":"NaN\\" Infinity","d":"x\ty\u0001"}';
  await using server = await startServer(
    bytes(careless, inJson),
    bytes(Buffer.from('{"a":"\xe9"}', 'latin1'), { 'content-type': 'application/json; charset=ISO-8859-1' }),
    bytes('{"a":"é"}', { 'content-type': 'application/json; charset=ISO-8859-1' }),
    bytes(Uint8Array.of(0x22, 0xff, 0x22), inJson),
  );
  const odd: string[] = [];
  const read = (body: Buffer) => readAsJson(body, (words) => odd.push(...words)).json;

  const responses = [];
  for (let at = 0; at < 4; at += 1) responses.push(Object(await sendOnce(server.url, { read })).response);

  expect(responses).toEqual([
    { a: null, b: [null, null], c: 'NaN" Infinity', d: 'x\ty\u0001' },
    { a: 'é' },
    { a: 'é' },
    '\ufffd',
  ]);
  expect(odd).toEqual(['the response: invalid JSON', 'the response: invalid JSON']);
});

test('a response with status 204 is null, and so is an empty body where the operation allows one', async () => {
  await using server = await startServer(bytes('', {}, 204), bytes('', inJson), bytes('', {}));

  const results = [
    await sendOnce(server.url),
    await sendOnce(server.url, { otherBody: 'empty' }),
    await sendOnce(server.url, { otherBody: 'any' }),
  ];

  for (const result of results) expect(result).toMatchObject({ kind: 'response', response: { json: null } });
});

test.each(['OK', '{"id":17', '<ok/>', '['.repeat(600)])(
  'the response body %s is accepted if the operation allows any body',
  async (body) => {
    await using server = await startServer(bytes(body), bytes(body, inJson), page('Sign in'));

    const plain = await sendOnce(server.url, { otherBody: 'any' });
    const broken = await sendOnce(server.url, { otherBody: 'any' });
    const login = await sendOnce(server.url, { otherBody: 'any' });

    expect(plain).toMatchObject({ kind: 'response', response: { json: body } });
    expect(broken).toMatchObject({ kind: 'response', response: { json: body } });
    expect(login).toMatchObject({ kind: 'failure', failure: { kind: 'not-json', title: 'Sign in' } });
  },
);

test.for([
  [
    'a page, with its title',
    page('Sign in\n to ACME'),
    { kind: 'not-json', status: 200, contentType: 'text/html; charset=utf-8', title: 'Sign in to ACME' },
  ],
  [
    'a page behind a comment',
    bytes('<?xml version="1.0"?>\n<!-- down -->\n<html><title>Sign in</title>', inJson),
    { kind: 'not-json', title: 'Sign in' },
  ],
  ['no type, and no JSON', bytes('{'), { kind: 'not-json', contentType: '' }],
  [
    'plain text that is no JSON',
    bytes('busy', { 'content-type': 'text/plain' }),
    { kind: 'not-json', contentType: 'text/plain' },
  ],
  [
    'a page that says it is JSON',
    bytes(' <!doctype html><title>Sign in</title>', { 'content-type': 'application/problem+json' }),
    { kind: 'not-json', title: 'Sign in' },
  ],
  [
    'JSON that is cut off, with a correct content length',
    bytes('{"results":[{"id":1},', { ...inJson, 'content-length': '21' }),
    { kind: 'cut', detail: '21 bytes received' },
  ],
  ['nothing', bytes('', inJson), { kind: 'cut', detail: '0 bytes received' }],
  [
    'invalid gzip',
    bytes(Uint8Array.of(0x1f, 0x8b, 0x22, 0x22), gzipped),
    { kind: 'cut', detail: 'its compression is broken (Z_DATA_ERROR)' },
  ],
  [
    'gzip that is cut off',
    bytes(gzipSync('{"a":1}').subarray(0, 15), gzipped),
    { kind: 'cut', detail: 'its compression is broken (Z_BUF_ERROR)' },
  ],
  [
    'an encoding that is not known',
    bytes(Uint8Array.of(0x1f, 0x9d, 0x90), { ...inJson, 'content-encoding': 'compress' }),
    { kind: 'not-json', contentType: 'application/json, content encoded as compress' },
  ],
] as const)('a response with %s is refused', async ([, reply, failure]) => {
  await using server = await startServer(reply);

  expect(await sendOnce(server.url)).toMatchObject({ status: 200, failure, sent: true });
});

describe('the size of a response body is capped while it streams:', () => {
  test('one byte more is refused', async () => {
    await using server = await startServer(json('x'.repeat(99)));

    const result = await sendOnce(server.url, { maxResponseBytes: 100 });

    expect(result).toMatchObject({ failure: { kind: 'too-large', maxBytes: 100 }, sent: true });
  });

  test('an endless body is abandoned at the cap, and its connection is closed', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await startServer((response, request) => {
      response.on('close', () => closed.resolve());
      flood(response, request);
    });

    const result = await sendOnce(server.url, { maxResponseBytes: 1_000_000 });
    await closed.promise;

    expect(result).toMatchObject({ failure: { kind: 'too-large', maxBytes: 1_000_000 } });
    expect(result.sizeBytes).toBeLessThan(1_200_000);
  });

  test('a gzip bomb of 2 GiB is abandoned at the cap, not unpacked', async () => {
    const mebibyte = gzipSync(Buffer.alloc(1_048_576, 0x20));
    const bomb = Buffer.concat(Array.from({ length: 2048 }, () => mebibyte));
    await using server = await startServer(bytes(bomb, gzipped));
    const beforeBytes = process.memoryUsage().rss;

    const result = await sendOnce(server.url, { maxResponseBytes: 5_000_000 });

    expect(result).toMatchObject({ failure: { kind: 'too-large', maxBytes: 5_000_000 }, sent: true });
    expect(result.sizeBytes).toBeLessThan(5_200_000);
    expect(process.memoryUsage().rss - beforeBytes).toBeLessThan(100_000_000);
  });

  test('the body of an error is read only for its message', async () => {
    await using server = await startServer(
      bytes(`"${'x'.repeat(50_000)}"`, { 'content-type': 'application/json' }, 400),
    );

    const result = await sendOnce(server.url);

    expect(result).toMatchObject({ status: 400, failure: { kind: 'status', status: 400 } });
  });
});

describe('the time limit', () => {
  test('covers a body that arrives slowly after an immediate header', async () => {
    await using server = await startServer(trickle);

    const result = await sendOnce(server.url, { timeoutMs: 500 });

    expect(result).toMatchObject({
      status: 200,
      failure: { kind: 'timeout', timeoutMs: 500, phase: 'exchange' },
      sent: true,
    });
  });

  test('covers the handshake, before which nothing is sent', async () => {
    await using mute = await startMute();

    const result = await sendOnce(`https://127.0.0.1:${mute.port}`, { timeoutMs: 500 });

    expect(result).toMatchObject({ failure: { kind: 'timeout', phase: 'tls' }, sent: false });
  });

  test('may be shorter for the time until there is a connection', async () => {
    await using mute = await startMute();
    await using silent = await startServer(silence);

    const handshake = await sendOnce(`https://127.0.0.1:${mute.port}`, { timeoutMs: 60_000, connectMs: 50 });
    const connected = await sendOnce(silent.url, { timeoutMs: 250, connectMs: 50 });

    expect(handshake).toMatchObject({
      failure: { kind: 'timeout', timeoutMs: 50, phase: 'tls' },
      sent: false,
    });
    expect(connected).toMatchObject({ failure: { kind: 'timeout', timeoutMs: 250, phase: 'exchange' } });
  });

  test('covers the connection to a proxy, before which nothing is sent', async () => {
    await using mute = await startMute();

    const result = await sendOnce('https://platform.invalid', {
      timeoutMs: 60,
      proxyEnv: { HTTPS_PROXY: `http://127.0.0.1:${mute.port}` },
    });

    expect(result).toMatchObject({ failure: { kind: 'timeout', phase: 'connect' }, sent: false });
  });
});

describe('a connection', () => {
  test.for(['127.0.0.1', 'localhost'])('that every address of %s refuses has sent nothing', async (host) => {
    const server = await startServer(json({}));
    await server[Symbol.asyncDispose]();

    const result = await sendOnce(`http://${host}:${server.port}`);

    expect(result).toMatchObject({
      status: undefined,
      failure: { kind: 'connection', phase: 'connect', code: 'ECONNREFUSED' },
      sent: false,
    });
  });

  test('to a name that cannot be resolved has sent nothing', async () => {
    const result = await sendOnce('http://platform.invalid');

    expect(result).toMatchObject({
      failure: {
        kind: 'connection',
        phase: 'resolve',
        code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
      },
      sent: false,
    });
  });

  test('over TLS to a port that speaks plain HTTP has sent nothing', async () => {
    await using server = await startServer(json({}));

    const result = await sendOnce(server.url.replace('http:', 'https:'));

    expect(result).toMatchObject({ failure: { kind: 'connection', phase: 'tls' }, sent: false });
    expect(server.requests).toEqual([]);
  });

  test('over TLS that is reset in the handshake has sent nothing', async () => {
    await using breaker = await startMute((socket) => socket.once('data', () => socket.resetAndDestroy()));

    const result = await sendOnce(`https://127.0.0.1:${breaker.port}`);

    expect(result).toMatchObject({
      failure: { kind: 'connection', phase: 'tls', code: 'ECONNRESET' },
      sent: false,
    });
  });

  test.for([
    ['is reset before the response', reset, undefined, 'ECONNRESET'],
    [
      'ends before the announced length',
      rawBytes('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{"a":'),
      200,
      'ECONNRESET',
    ],
    ['speaks another protocol', rawBytes('SSH-2.0-server\r\n'), undefined, 'HPE_INVALID_CONSTANT'],
    [
      'switches protocols',
      rawBytes('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      undefined,
      'ECONNRESET',
    ],
    ['ends without a word', rawBytes(''), undefined, 'ECONNRESET'],
  ] as const)('that %s may have sent the request', async ([, reply, status, code]) => {
    await using server = await startServer(reply);

    const result = await sendOnce(server.url, { timeoutMs: 5_000 });

    expect(result).toMatchObject({
      status,
      failure: { kind: 'connection', phase: 'exchange', code },
      sent: true,
    });
  });
});

describe('an error of the platform', () => {
  test.for([
    {
      shape: 'with a reference',
      body: '{"status":400,"statusReason":"Bad Request","path":"/api/x","message":"Unknown field","toe":"D2RFR14QKK-0FWIV-QTGGZ"}',
      said: { detail: 'Unknown field', reference: 'D2RFR14QKK-0FWIV-QTGGZ' },
    },
    {
      shape: 'with a reason but no message',
      body: '{"status":400,"statusReason":"Bad Request","toe":"D2R"}',
      said: { detail: 'Bad Request', reference: 'D2R' },
    },
    {
      shape: 'whose message and reference are empty',
      body: '{"statusReason":"Bad Request","message":"","toe":""}',
      said: { detail: 'Bad Request' },
    },
    {
      shape: 'with only a message',
      body: '{"message":"no such version"}',
      said: { detail: 'no such version' },
    },
    { shape: 'that is a bare text', body: '"Forbidden"', said: { detail: 'Forbidden' } },
    {
      shape: 'that is a page',
      body: '<html><head><title>\n  Blocked </title></head></html>',
      said: { detail: 'a page titled “Blocked”' },
    },
    {
      shape: 'that is a page with an empty title',
      body: '<html><head><title> </title></head></html>',
      said: { detail: 'a page titled “untitled”' },
    },
    {
      shape: 'that is a page whose title has a language',
      body: '<html><title lang="en">Blocked</title></html>',
      said: { detail: 'a page titled “Blocked”' },
    },
    {
      shape: 'that only speaks of a page',
      body: ' cannot read <html>\n',
      said: { detail: 'cannot read <html>' },
    },
    {
      shape: 'that is a page without a title',
      body: '\n <!doctype html>…',
      said: { detail: 'a page titled “untitled”' },
    },
    {
      shape: 'of texts and files',
      body: '{"errorCode":"TOPIC_INVALID","errorMessage":"A topic has no name","toe":null}',
      said: { detail: 'A topic has no name', reference: 'TOPIC_INVALID' },
    },
    {
      shape: 'with a number as its code, beside a reference',
      body: '{"errorCode":4001,"errorMessage":"","statusReason":"Bad Request","toe":"D2RF-1"}',
      said: { detail: 'Bad Request', reference: 'D2RF-1' },
    },
    { shape: 'of a code alone', body: '{"errorCode":4001}', said: { reference: '4001' } },
    { shape: 'that is cut off', body: '{"message":"no su', said: { detail: '{"message":"no su' } },
    { shape: 'of other types', body: '{"message":{},"statusReason":5,"toe":7}', said: {} },
    { shape: 'that is null', body: 'null', said: {} },
    { shape: 'that is empty', body: '', said: {} },
    { shape: 'that is blank', body: ' \n', said: {} },
    { shape: 'that just fits', body: 'x'.repeat(300), said: { detail: 'x'.repeat(300) } },
    {
      shape: 'of two long lines, in one line and shortened',
      body: `{"message":"one\\ntwo ${'x'.repeat(1000)}"}`,
      said: { detail: `one two ${'x'.repeat(292)}…` },
    },
  ])('is recognized: $shape', async ({ body, said }) => {
    await using server = await startServer(bytes(body, { 'content-type': 'application/json' }, 400));

    const result = await sendOnce(server.url);

    expect(result).toMatchObject({ kind: 'failure', status: 400, sent: true });
    expect(result).toHaveProperty('failure', { kind: 'status', status: 400, ...said });
  });

  test('says when to retry, in seconds or as a date', async () => {
    await using server = await startServer(
      json({}, 429, { 'retry-after': '7' }),
      json({}, 503, {
        'retry-after': 'Wed, 21 Oct 2026 07:28:30 GMT',
        date: 'Wed, 21 Oct 2026 07:28:00 GMT',
      }),
      json({}, 429),
      json({}, 429, { 'retry-after': 'soon' }),
    );
    const now = () => Date.UTC(2027, 0, 1);

    const seconds = await sendOnce(server.url, { now });
    const date = await sendOnce(server.url, { now });
    const absent = await sendOnce(server.url, { now });
    const unknown = await sendOnce(server.url, { now });

    expect(seconds).toHaveProperty('failure.retryAfterMs', 7_000);
    expect(date).toHaveProperty('failure.retryAfterMs', 30_000);
    expect(absent).not.toHaveProperty('failure.retryAfterMs');
    expect(unknown).not.toHaveProperty('failure.retryAfterMs');
  });

  test.for([
    ['whose compression is broken', bytes('no gzip', gzipped, 429)],
    ['whose encoding is unknown', bytes('?', { 'content-encoding': 'rot13' }, 429)],
    ['whose body breaks', rawBytes('HTTP/1.1 429 Too Many Requests\r\ncontent-length: 9\r\n\r\n"sl')],
    ['whose body never ends', unended(429)],
  ] as const)('keeps its status %s', async ([, reply]) => {
    await using server = await startServer(reply);

    const result = await sendOnce(server.url, { timeoutMs: 80 });

    expect(result).toMatchObject({ status: 429, failure: { kind: 'status', status: 429 }, sent: false });
  });
});

describe('the caller’s abort is thrown with its own reason', () => {
  test('before anything is sent', async () => {
    await using server = await startServer(json({}));
    const reason = new Error('enough');

    const error = await thrown(sendOnce(server.url, { signal: AbortSignal.abort(reason) }));

    expect(error).toBe(reason);
    expect(server.requests).toEqual([]);
  });

  test('during the connection through a proxy', async () => {
    await using mute = await startMute();
    const abort = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => abort.abort(reason), 30);

    const error = await thrown(
      sendOnce('https://platform.invalid', {
        signal: abort.signal,
        proxyEnv: { HTTPS_PROXY: `http://127.0.0.1:${mute.port}` },
      }),
    );

    expect(error).toBe(reason);
  });

  test.for([200, 400])('while the body of a %i is read', async (status) => {
    const abort = new AbortController();
    const reason = new Error('enough');
    await using server = await startServer((response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.write('{', () => setTimeout(() => abort.abort(reason), 20));
    });

    const error = await thrown(sendOnce(server.url, { signal: abort.signal }));

    expect(error).toBe(reason);
  });
});

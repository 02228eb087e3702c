import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PaceWaitError } from '../../lib/pace/pace.ts';
import type { Platform } from '../../lib/platform/client.ts';
import type { PlatformEvent } from '../../lib/platform/events.ts';
import { createPlatform } from '../../lib/platform/open-calls.ts';
import { fixedToken } from '../../lib/platform/token.ts';
import { createFakePace } from '../pace/fake-pace.ts';
import { caught } from './caught.ts';
import { everythingOf } from './everything-of.ts';
import { fakeCall, ok } from './fake-call.ts';
import { startMute } from './mute-server.ts';
import { startProxy } from './proxy-server.ts';
import { calculationRow, file, files } from './sample-records.ts';
import {
  bytes,
  json,
  page,
  type Reply,
  rawBytes,
  redirect,
  reset,
  resetMidBody,
  startServer,
  trickle,
} from './scripted-server.ts';

const TOKEN = 'SECRET-5f2c9a/+b=7e41';
/** Tests search for this part of the token, which also finds a token that was cut off or encoded. */
const PART = 'SECRET-5f';

const fileset = '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b';
const sort = { field: 'id', ascending: true };
const html = { 'content-type': 'text/html' };
const inJson = { 'content-type': 'application/json' };

type SearchOptions = { readonly proxyUrl?: string; readonly timeoutMs?: number };

/** A timeout that is long enough for a busy machine. */
const PATIENT_MS = 5_000;
const IMPATIENT_MS = 60;

async function search(baseUrl: string, { proxyUrl, timeoutMs = PATIENT_MS }: SearchOptions = {}) {
  const events: PlatformEvent[] = [];
  const platform = createPlatform({
    baseUrl,
    token: fixedToken(TOKEN),
    pace: createFakePace(),
    timeoutMs,
    maxResponseBytes: 200_000,
    retry: { maxRetries: 1, maxMisdirectedRetries: 1, baseDelayMs: 1, budgetMs: 100 },
    observe: (event) => events.push(event),
    ...(proxyUrl === undefined ? {} : { proxyEnv: { HTTPS_PROXY: proxyUrl } }),
  });
  const error = await caught(platform.calculations.search({ sort }));
  return { error, events };
}

describe('the token is not shown', () => {
  const echoes: readonly (readonly [string, string, Reply])[] = [
    ['the message of an error', 'status', json({ message: `bad ${TOKEN}`, toe: 'D2R' }, 401)],
    ['every field of an error', 'status', json({ message: TOKEN, statusReason: TOKEN, toe: TOKEN }, 400)],
    ['the reason of an error', 'status', json({ statusReason: TOKEN, toe: `x${TOKEN}` }, 503)],
    ['a key of an error', 'status', json({ [TOKEN]: TOKEN, message: { [TOKEN]: 1 } }, 400)],
    ['a refusal for the rate', 'status', json({ message: TOKEN }, 429)],
    ['the place where a detail is cut', 'status', json({ message: `${'x'.repeat(290)}${TOKEN}` }, 400)],
    ['the place where a reference is cut', 'status', json({ toe: `${'x'.repeat(91)}${TOKEN}` }, 400)],
    ['a bare text', 'status', bytes(`"${TOKEN}"`, inJson, 403)],
    ['a text with escaped slashes', 'status', bytes(`"${TOKEN.replace('/', String.raw`\/`)}"`, inJson, 403)],
    ['a text with escaped letters', 'status', bytes(String.raw`"\u0053${TOKEN.slice(1)}"`, inJson, 403)],
    ['plain text', 'status', bytes(`no: ${TOKEN}`, {}, 500)],
    ['the title of an error page', 'status', page(`no ${TOKEN}`, 502)],
    ['the title of a page', 'not-json', page(`Sign in, ${TOKEN}`)],
    ['the place where a title is cut', 'not-json', page(`${'x'.repeat(91)}${TOKEN}`)],
    [
      'the place where a page is cut',
      'not-json',
      bytes(`<html><!--${'x'.repeat(65_505)}--><title>${TOKEN}</title>`, html),
    ],
    ['the content type', 'not-json', bytes('busy', { 'content-type': `text/${TOKEN}` })],
    ['the content encoding', 'not-json', bytes('busy', { ...inJson, 'content-encoding': TOKEN })],
    ['the path of a redirect', 'redirect', redirect(303, `https://other.invalid/login/${TOKEN}/x`)],
    [
      'the path of a redirect, encoded',
      'redirect',
      redirect(303, `https://other.invalid/${encodeURIComponent(TOKEN)}`),
    ],
    ['the query of a redirect', 'redirect', redirect(301, `/login?token=${TOKEN}#${TOKEN}`)],
    ['the user of a redirect', 'redirect', redirect(302, 'https://SECRET-5f2c9a:x@other.invalid/login')],
    ['the host of a redirect', 'redirect', redirect(302, `https://${TOKEN}.other.invalid/login`)],
    ['JSON that is cut off', 'cut', bytes(`{"a":"${TOKEN}`, inJson)],
    ['invalid compression', 'cut', bytes(TOKEN, { ...inJson, 'content-encoding': 'gzip' })],
    ['a body that is too large', 'too-large', bytes(TOKEN.repeat(20_000), inJson)],
    ['something other than HTTP', 'connection', rawBytes(`${TOKEN}\r\n\r\n`)],
    ['an invalid header', 'connection', rawBytes(`HTTP/1.1 200 OK\r\n${TOKEN}\r\n\r\n`)],
    ['nothing: the connection is reset', 'connection', reset],
    ['nothing: the body breaks', 'connection', resetMidBody],
    ['nothing: the body never ends', 'timeout', trickle],
    ['a wrong value', 'shape', json({ results: TOKEN })],
    ['the place where a value is cut', 'shape', json({ results: `${'x'.repeat(50)}${TOKEN}` })],
    ['a wrong id', 'shape', json({ results: [{ id: TOKEN }] })],
    [
      'a key of a record',
      'shape',
      json({ results: [{ ...calculationRow(), activeLinks: { [TOKEN]: 1 }, id: {} }] }),
    ],
    ['a response that is not an object', 'shape', json(TOKEN)],
  ];

  test.for(echoes)('after a response that has it in %s', async ([, kind, reply]) => {
    await using server = await startServer(reply);
    const timeoutMs = kind === 'timeout' ? IMPATIENT_MS : PATIENT_MS;

    const { error, events } = await search(server.url, { timeoutMs });

    expect(server.requests[0]?.headers['x-service-developer-token']).toBe(TOKEN);
    expect(error.failure.kind).toBe(kind);
    expect(everythingOf(error)).not.toContain(PART);
    expect(events.map(everythingOf).join()).not.toContain(PART);
    expect(everythingOf(error).toUpperCase()).not.toContain(PART.toUpperCase());
  });

  test('when no connection can be made', async () => {
    const broken = await startServer(reset);
    await broken[Symbol.asyncDispose]();
    await using plain = await startServer(reset);
    await using mute = await startMute();
    await using proxy = await startProxy({ refuse: '407 Proxy Authentication Required' });

    const failures = await Promise.all([
      search(broken.url),
      search('http://platform.invalid'),
      search(plain.url.replace('http:', 'https:')),
      search(`https://127.0.0.1:${mute.port}`, { timeoutMs: IMPATIENT_MS }),
      search('https://platform.invalid', { proxyUrl: proxy.url }),
    ]);

    expect(failures.map(({ error }) => error.failure.kind)).toEqual([
      'connection',
      'connection',
      'connection',
      'timeout',
      'connection',
    ]);
    expect(failures.map(everythingOf).join()).not.toContain(PART);
    expect(failures.map(({ error }) => everythingOf(error)).join()).not.toContain(PART);
  });

  test('when the token itself cannot be sent', async () => {
    await using server = await startServer(json({}));
    const platform = createPlatform({
      baseUrl: server.url,
      token: fixedToken(`${TOKEN}\nX-Other: 1`),
      pace: createFakePace(),
      retry: { maxRetries: 1, baseDelayMs: 1 },
    });

    const error = await caught(platform.calculations.search({ sort }));

    expect(server.requests).toEqual([]);
    expect(error.sent).toBe(false);
    expect(everythingOf(error)).not.toContain(PART);
  });

  test('when the input is refused, the pace refuses, or a list does not end', async () => {
    const refusing = fakeCall([ok({})], { token: fixedToken(TOKEN) });
    const pacing = fakeCall([ok({})], {
      token: fixedToken(TOKEN),
      turns: [new PaceWaitError(900_000, 1000)],
    });
    const listing = fakeCall([ok(files(TOKEN, file({ name: TOKEN })))], { token: fixedToken(TOKEN) });

    const input = await caught(refusing.platform.calculations.search({ sort, limit: 0 }));
    const wait = await caught(pacing.platform.calculations.search({ sort }));
    const endless = await caught(Array.fromAsync(listing.platform.files.pages(fileset, {}, { maxPages: 1 })));

    expect([input, wait, endless].map((error) => error.failure.kind)).toEqual(['input', 'wait', 'endless']);
    expect([input, wait, endless].map(everythingOf).join()).not.toContain(PART);
  });

  test('after any JSON that contains it anywhere', async () => {
    const name = fc.constantFrom(
      TOKEN,
      'id',
      'name',
      'results',
      'files',
      'pageContext',
      'topicSentiments',
      'dataFileId',
      'revisions',
      'activeLinks',
      'type',
      '0',
    );
    const leaf = fc.constantFrom<unknown>(TOKEN, `x ${TOKEN} y`, `${'x'.repeat(55)}${TOKEN}`, 7, null, true);
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(name, tie('tree'), { maxKeys: 4 }),
      ),
    }));
    const operation = fc.constantFrom<(platform: Platform) => Promise<unknown>>(
      (platform) => platform.calculations.updateFormula(1, 'SUM(1)'),
      (platform) => platform.calculations.search({ sort }),
      (platform) => platform.files.pages(fileset).next(),
      (platform) => platform.cards.ofDataset('d'),
      (platform) => platform.functions.run({ packageId: fileset, version: '1', functionName: 'f' }),
      (platform) => platform.sentiment.analyze({ text: 'fine' }),
      (platform) => platform.dataFiles.get(1),
    );

    await fc.assert(
      fc.asyncProperty(operation, tree, async (run, response) => {
        const { platform } = fakeCall([ok(response)], { token: fixedToken(TOKEN) });

        const outcome = await run(platform).then(
          () => 'fine',
          (error: unknown) => everythingOf(error),
        );

        expect(outcome).not.toContain(PART);
      }),
    );
  });
});

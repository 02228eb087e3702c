import { getEventListeners } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createInHand } from '../../lib/base/aws/traced.ts';
import { createProcessPace } from '../../lib/pace/fleet-pace.ts';
import { type Pace, PaceWaitError } from '../../lib/pace/pace.ts';
import type { ReadAnswer } from '../../lib/platform/call.ts';
import type { PlatformEvent } from '../../lib/platform/events.ts';
import { searchCalculations } from '../../lib/platform/operations/search-calculations.ts';
import { secretToken } from '../../lib/platform/token.ts';
import { createFakePace } from '../pace/fake-pace.ts';
import { caught, thrown } from './caught.ts';
import { clientAt } from './client-at.ts';
import { failed, fakeCall, lost, ok, refused, type Scripted, status } from './fake-call.ts';
import { calculationRow, calculations, execution } from './sample-records.ts';
import { bytes, json, page, type Reply, startServer } from './scripted-server.ts';

const sort = { field: 'id', ascending: true };
const run = { packageId: '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b', version: '1.0.0', functionName: 'score' };
const good = ok(calculations(calculationRow()));

describe('a call', () => {
  test('takes a slot for every attempt, and reports a 429 to the pace before it waits', async () => {
    const { platform, log, slept } = fakeCall([status(429, 7_000), good]);

    const response = await platform.calculations.search({ sort });

    expect(response.rows).toHaveLength(1);
    expect(slept).toEqual([7_000]);
    expect(log).toEqual(['turn', 'send', 'throttled 7000', 'sleep 7000', 'turn', 'send']);
  });

  test('is in the list of open work from its first attempt to its last, with its ids', async () => {
    const inHand = createInHand(() => 0);
    const seen: unknown[] = [];
    const { platform } = fakeCall([status(503), good], {
      inHand,
      sleep: async () => void seen.push(...inHand.list(10)),
    });

    await platform.calculations.search({ sort });

    expect(seen).toEqual([{ operation: 'searchCalculations', about: expect.any(String), forMs: 0 }]);
    expect(inHand.size()).toBe(0);
  });

  test('backs off after a 503 with jitter and then gives up', async () => {
    const { platform, slept, sent } = fakeCall([status(503)]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(slept).toEqual([125, 250, 500, 1_000, 2_000, 4_000, 8_000, 10_000]);
    expect(sent).toHaveLength(9);
    expect(error).toMatchObject({
      name: 'PlatformError',
      operation: 'searchCalculations',
      attempts: 9,
      sent: true,
      failure: { kind: 'status', status: 503 },
      message:
        'searchCalculations (calculations from 0) failed after 9 attempts: the server responded with 503',
    });
  });

  test('retries an unreachable platform only for as long as a person waits', async () => {
    const limits = { unreachedMs: 3_000 };
    const never = fakeCall([refused], { limits, turns: [new PaceWaitError(0, 0)] });
    const once = fakeCall([status(503), refused], { limits });

    await caught(never.platform.calculations.search({ sort }));
    await caught(once.platform.calculations.search({ sort }));

    expect(never.slept).toEqual([0, 250, 500, 1_000]);
    expect(never.sent.map(({ request }) => request.connectMs)).toEqual(Array(4).fill(3_000));
    expect(once.slept).toHaveLength(8);
  });

  test('waits for a connection at most as long as other calls for a response, even if it runs a code function', async () => {
    const { platform, sent } = fakeCall([ok(execution())]);

    await platform.functions.run(run);

    expect(sent[0]?.request).toMatchObject({ timeoutMs: 330_000, connectMs: 60_000 });
  });

  test('gives up instead of waiting beyond its time budget', async () => {
    const { platform, slept } = fakeCall([status(429, 200_000)]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(slept).toEqual([200_000]);
    expect(error).toMatchObject({
      attempts: 2,
      sent: false,
      failure: { status: 429, retryAfterMs: 200_000 },
    });
  });

  test('waits for a slot that is far off, and then calls', async () => {
    const { platform, log } = fakeCall([good], { turns: [new PaceWaitError(5_000, 1_000), 0] });

    await platform.calculations.search({ sort });

    expect(log).toEqual(['turn', 'sleep 5000', 'turn', 'send']);
  });

  test('gives up if its slot is beyond its time budget, and sends nothing', async () => {
    const { platform, sent } = fakeCall([good], { turns: [new PaceWaitError(300_001, 1_000)] });

    const error = await caught(platform.calculations.search({ sort }));

    expect(sent).toEqual([]);
    expect(error).toMatchObject({
      sent: false,
      failure: { kind: 'wait', waitMs: 300_001, maxWaitMs: 1_000 },
    });
    expect(error.message).toContain('its turn is in 300 s, but it may wait at most 1 s');
  });

  test('fails with the message that a person paused all calls, instead of how long it would wait', async () => {
    const paused = new PaceWaitError(60_000, 20_000, 'paused');
    const { platform } = fakeCall([good], { turns: [paused] });

    const error = await caught(platform.calculations.search({ sort }, { once: true }));

    expect(error).toMatchObject({
      failure: { kind: 'wait', waitMs: 60_000, isPaused: true },
      message:
        'searchCalculations (calculations from 0) failed: paused by `pace --pause`: nothing is sent until `pace --resume`',
    });
  });

  test('reports the platform’s reference, and preserves the cause', async () => {
    const cause = new Error('socket hang up');
    const failing = fakeCall([
      failed({ kind: 'status', status: 404, detail: 'No such id', reference: 'D2R-1' }),
    ]);
    const breaking = fakeCall([failed({ kind: 'connection', phase: 'exchange', code: 'EPIPE' }, cause)], {
      limits: { maxRetries: 0 },
    });

    const missing = await caught(failing.platform.dataFiles.get(12));
    const broken = await caught(breaking.platform.dataFiles.get(12));

    expect(missing.message).toBe(
      'getDataFile (data file 12) failed: the server responded with 404: No such id (reference D2R-1)',
    );
    expect(missing.failure).toMatchObject({ reference: 'D2R-1' });
    expect(broken.message).toBe('getDataFile (data file 12) failed: the connection broke (EPIPE)');
    expect(broken.cause).toBe(cause);
  });

  test('may take longer than the platform’s 5 minutes if it runs a code function; any other call has the configured time limit', async () => {
    const running = fakeCall([ok(execution())]);
    const searching = fakeCall([good]);

    await running.platform.functions.run(run);
    await searching.platform.calculations.search({ sort });

    expect(running.sent[0]?.request).toMatchObject({ timeoutMs: 330_000, mayRepeat: false });
    expect(searching.sent[0]?.request).toMatchObject({ timeoutMs: 60_000, mayRepeat: true });
  });

  test('uses PUT once POST was refused with 405, and from then on immediately', async () => {
    const { platform, sent, slept } = fakeCall([status(405), ok({ id: 17 })]);
    const attempts: string[] = [];
    const options = { once: true, beforeSend: async () => void attempts.push('recorded') };

    await platform.calculations.updateFormula(17, 'SUM(1)', options);
    await platform.calculations.updateFormula(17, 'SUM(2)', options);

    expect(sent.map(({ request }) => request.method)).toEqual(['POST', 'PUT', 'PUT']);
    expect({ attempts: attempts.length, slept }).toEqual({ attempts: 3, slept: [] });
  });

  test('uses POST again once PUT is refused, and gives up if both are refused, with nothing done', async () => {
    const { platform, sent } = fakeCall([status(405), ok(null), status(405), status(405)]);

    await platform.calculations.updateFormula(17, 'SUM(1)');
    const error = await caught(platform.calculations.updateFormula(17, 'SUM(2)'));

    expect(sent.map(({ request }) => request.method)).toEqual(['POST', 'PUT', 'PUT', 'POST']);
    expect(error).toMatchObject({ sent: false, failure: { status: 405 } });
  });

  test('is not repeated as PUT if its POST may have done something', async () => {
    for (const reply of [status(404), status(500), lost]) {
      const { platform, sent } = fakeCall([reply, ok(null)]);

      await caught(platform.calculations.updateFormula(17, 'SUM(1)'));

      expect(sent).toHaveLength(1);
    }
  });

  test('that is refused with 405 is not tried with another method unless the platform may expect one', async () => {
    const { platform, sent } = fakeCall([status(405), good]);

    await caught(platform.calculations.search({ sort }));

    expect(sent).toHaveLength(1);
  });

  test.each([
    [status(503, 7_000), ['throttled 7000']],
    [status(503), []],
    [status(500, 7_000), []],
    [lost, []],
  ])('that fails with %o slows down the pace: %j', async (failure, expected) => {
    const { platform, log } = fakeCall([failure, good]);

    await platform.calculations.search({ sort });

    expect(log.filter((entry) => entry.startsWith('throttled'))).toEqual(expected);
  });

  test('reports an odd response to the observer, and returns it unchanged', async () => {
    const { platform, events } = fakeCall([ok(execution({ startedBy: 5, stdout: 'hello', version: null }))]);

    const { stdout } = await platform.functions.run(run);

    expect(stdout).toBe('hello');
    expect(events.filter(({ kind }) => kind === 'odd')).toEqual([
      {
        kind: 'odd',
        operation: 'runFunction',
        attempt: 1,
        members: ['version: none', 'startedBy: number', 'stdout: string'],
      },
    ]);
  });

  test('reports how many attempts it made when a response has an unexpected shape', async () => {
    const { platform } = fakeCall([status(503), ok({ results: 5 })]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(error.failure.kind).toBe('shape');
    expect(error.attempts).toBe(2);
  });
});

describe('an observer', () => {
  test('receives every wait, request, refusal and retry, in order', async () => {
    const { platform, events } = fakeCall([status(429, 7_000), good], { turns: [40, 0] });

    await platform.calculations.search({ sort });

    const operation = 'searchCalculations';
    expect(events).toStrictEqual([
      { kind: 'waited', operation, attempt: 1, waitedMs: 40 },
      {
        kind: 'request',
        operation,
        attempt: 1,
        status: 429,
        durationMs: 0,
        sizeBytes: 0,
        failure: { kind: 'status', status: 429, retryAfterMs: 7_000 },
      },
      { kind: 'throttled', operation, attempt: 1, retryAfterMs: 7_000 },
      {
        kind: 'retry',
        operation,
        attempt: 1,
        delayMs: 7_000,
        failure: { kind: 'status', status: 429, retryAfterMs: 7_000 },
      },
      { kind: 'request', operation, attempt: 2, status: 200, durationMs: 0, sizeBytes: expect.any(Number) },
    ]);
  });

  test('does not affect the call if it throws', async () => {
    const { platform, events, sent } = fakeCall([status(503), good], {
      observe: () => {
        throw new Error('a faulty observer');
      },
    });

    const response = await platform.calculations.search({ sort });

    expect(response.rows).toHaveLength(1);
    expect(sent).toHaveLength(2);
    expect(events.map((event) => event.kind)).toEqual(['request', 'retry', 'request']);
  });
});

describe('the caller’s abort is rethrown with its own reason', () => {
  const reason = new Error('enough');
  type Stops = (signal?: AbortSignal) => Promise<never>;

  test.each<[string, (stops: Stops) => Parameters<typeof fakeCall>, number]>([
    ['during a sleep', (stops) => [[status(503)], { sleep: (_ms, signal) => stops(signal) }], 1],
    ['while it waits for its turn', (stops) => [[good], { turns: [stops] }], 0],
    ['while it sends, and nothing is tried again', (stops) => [[stops, good]], 1],
  ])('%s', async (_, given, sends) => {
    const abort = new AbortController();
    const { platform, sent } = fakeCall(
      ...given(async (signal) => {
        abort.abort(reason);
        signal?.throwIfAborted();
        throw new Error('not reached');
      }),
    );

    const error = await thrown(platform.calculations.search({ sort }, { signal: abort.signal }));

    expect(error).toBe(reason);
    expect(sent).toHaveLength(sends);
  });
});

describe('a call that must finish once sent', () => {
  const reason = new Error('the lease is lost');
  const paced = (url: string) =>
    clientAt(url, { pace: createProcessPace({ rate: 1_000, concurrency: 2, maxWaitMs: 10_000 }) });

  test('can be stopped until it has left, while other calls can be stopped at any time', async () => {
    const abort = new AbortController();
    await using server = await startServer((response, request) => {
      abort.abort(reason);
      setTimeout(() => json(execution())(response, request), 20);
    });
    const options = { signal: abort.signal, once: true };

    const stopped = await thrown(paced(server.url).functions.run(run, options));
    expect(stopped).toBe(reason);

    const again = new AbortController();
    const done = paced(server.url).functions.run(run, { ...options, signal: again.signal, finishes: true });
    again.abort(reason);
    await expect(done).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });

  test('ends by itself once its request has left', async () => {
    const abort = new AbortController();
    await using server = await startServer((response, request) => {
      abort.abort(reason);
      setTimeout(() => json(execution())(response, request), 20);
    });

    const done = await paced(server.url).functions.run(run, {
      signal: abort.signal,
      once: true,
      finishes: true,
    });

    expect(done.status).toBe('SUCCESS');
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  test('is listed until it ends, so that the process waits for it, unlike others', async () => {
    await using server = await startServer(json(execution()));
    const log: unknown[] = [];
    const platform = clientAt(server.url, {
      trackSent(call) {
        log.push(call);
        return { [Symbol.dispose]: () => void log.push('ended') };
      },
    });

    await platform.functions.run(run, { finishes: true });
    await platform.functions.run(run);

    expect(log).toEqual([{ operation: 'runFunction', timeoutMs: 330_000 }, 'ended']);
  });

  test('sends nothing if it is aborted while its departure is recorded', async () => {
    const abort = new AbortController();
    await using server = await startServer(json(execution()));
    const beforeSend = async () => abort.abort(reason);
    const options = { signal: abort.signal, finishes: true, beforeSend };

    const error = await thrown(paced(server.url).functions.run(run, options));

    expect(error).toBe(reason);
    expect(server.requests).toEqual([]);
  });
});

describe('a refused token', () => {
  const secrets = (...texts: readonly string[]) => {
    let fetches = 0;
    const token = secretToken({
      fetchSecret: async () => {
        fetches += 1;
        return texts[fetches - 1] ?? 'none';
      },
    });
    return { token, fetches: () => fetches };
  };

  test('is read again once, and the call continues immediately with the new token', async () => {
    const { token, fetches } = secrets('old', 'new');
    const { platform, sent, slept } = fakeCall([status(401), good], { token });

    await platform.calculations.search({ sort });

    expect(sent.map((each) => each.token)).toEqual(['old', 'new']);
    expect(fetches()).toBe(2);
    expect(slept).toEqual([]);
  });

  test('is an error if it is refused again after that, without another read', async () => {
    const { token, fetches } = secrets('old', 'new', 'third');
    const { platform, sent } = fakeCall([status(401)], { token });

    const error = await caught(platform.calculations.search({ sort }));

    expect(sent.map((each) => each.token)).toEqual(['old', 'new']);
    expect(fetches()).toBe(2);
    expect(error).toMatchObject({ sent: false, attempts: 2, failure: { kind: 'status', status: 401 } });
    expect(error.message).toContain('; check that the token is correct, and neither expired nor revoked');
  });

  test('is read again only once, even if it is refused between other retries', async () => {
    const { token } = secrets('old', 'new', 'third');
    const { platform, sent } = fakeCall([status(503), status(401), status(503), status(401)], { token });

    const error = await caught(platform.calculations.search({ sort }));

    expect(sent.map((each) => each.token)).toEqual(['old', 'old', 'new', 'new']);
    expect(error).toMatchObject({ sent: true, attempts: 4, failure: { status: 401 } });
  });

  test('that no header can contain is an immediate error, which does not show the token', async () => {
    const { token } = secrets('sec\nret');
    const { platform, sent } = fakeCall([good], { token });

    const error = await caught(platform.calculations.search({ sort }));

    expect(sent).toEqual([]);
    expect(error.sent).toBe(false);
    expect(error.message).toContain(
      'token: expected visible ASCII characters without spaces, got 7 characters',
    );
  });
});

describe('a call that may not be repeated', () => {
  const lostResponses: readonly (readonly [string, Scripted])[] = [
    ['the connection broke', lost],
    ['it timed out', failed({ kind: 'timeout', timeoutMs: 330_000, phase: 'exchange' })],
    ['the response was cut off', failed({ kind: 'cut', detail: '5 bytes received' })],
    ['a gateway responded with 502', status(502)],
    ['a gateway responded with 503 and a delay', status(503, 1_000)],
    ['a page was received', failed({ kind: 'not-json', status: 200, contentType: 'text/html' })],
    ['a redirect was received', failed({ kind: 'redirect', status: 303, to: 'https://other.invalid/' })],
    ['the response was too large', failed({ kind: 'too-large', maxBytes: 5 })],
    ['the response had another shape', ok({ odd: true })],
  ];

  test.for(lostResponses)('runs a code function exactly once when %s', async ([, result]) => {
    const { platform, sent, slept } = fakeCall([result, ok(execution())]);

    const error = await caught(platform.functions.run(run));

    expect(sent).toHaveLength(1);
    expect(slept).toEqual([]);
    expect(error.sent).toBe(true);
    expect(error.attempts).toBe(1);
  });

  test('is retried only if it certainly has not been sent', async () => {
    const { platform, sent, slept } = fakeCall([
      refused,
      status(429, 7_000),
      failed({ kind: 'connection', phase: 'resolve', code: 'EAI_AGAIN' }),
      lost,
      ok(execution()),
    ]);

    const error = await caught(platform.functions.run(run));

    expect(sent).toHaveLength(4);
    expect(slept).toEqual([125, 7_000, 500]);
    expect(error).toMatchObject({
      sent: true,
      attempts: 4,
      failure: { kind: 'connection', phase: 'exchange' },
    });
  });
});

describe('a call that must be recorded before it is sent', () => {
  test('is recorded for each attempt before it takes a slot, so that it can leave in this slot', async () => {
    const { platform, log } = fakeCall([status(503), good]);
    const beforeSend = async () => void log.push('recorded');

    await platform.calculations.search({ sort }, { beforeSend });

    expect(log).toEqual(['recorded', 'turn', 'send', 'sleep 125', 'recorded', 'turn', 'send']);
  });

  test('is not sent if recording fails', async () => {
    const { platform, sent } = fakeCall([good]);
    const beforeSend = () => Promise.reject(new Error('the table is unavailable'));

    await expect(platform.calculations.search({ sort }, { beforeSend })).rejects.toThrow(
      'the table is unavailable',
    );

    expect(sent).toEqual([]);
  });

  test('reports the moment at which it leaves, and the callback may still stop it', async () => {
    const { platform, log } = fakeCall([good]);
    const beforeSend = async () => void log.push('recorded');
    const onSend = () => {
      log.push('leaving');
      throw new Error('too late');
    };

    await expect(platform.calculations.search({ sort }, { beforeSend, onSend })).rejects.toThrow('too late');

    expect(log).toEqual(['recorded', 'turn', 'leaving']);
  });

  test.each([status(429, 1_000), status(503), refused, status(401)])(
    'is tried only once with the option `once`, whatever the outcome',
    async (result) => {
      // After the 401 the store would return a new token, but the call is not tried again.
      const secrets = ['old', 'new'];
      const token = secretToken({ fetchSecret: async () => secrets.shift() ?? 'none' });
      const { platform, sent, slept } = fakeCall([result, good], { token });

      const error = await caught(platform.calculations.search({ sort }, { once: true }));

      expect(error).toMatchObject({ name: 'PlatformError', attempts: 1 });
      expect(sent).toHaveLength(1);
      expect(slept).toEqual([]);
    },
  );
});

test('a call that may have been sent still counts as sent if a later attempt was not', async () => {
  const { platform } = fakeCall([lost, refused]);

  const error = await caught(platform.calculations.search({ sort }));

  expect(error).toMatchObject({ sent: true, failure: { kind: 'connection', phase: 'connect' } });
});

describe('a response that the caller parses from its bytes', () => {
  test('is fetched again if the parser throws that it is not valid JSON', async () => {
    await using server = await startServer(json([1]), json([2]));
    const platform = clientAt(server.url, { retry: { baseDelayMs: 1 } });
    const read = (body: Buffer) => {
      if (body.includes('1')) throw new SyntaxError('cut');
      return body.toString();
    };

    const text = await platform.call.read(searchCalculations, { body: { sort } }, read);

    expect(text).toBe('[2]');
    expect(server.requests).toHaveLength(2);
  });

  test('is an error of shape, and not fetched again, if the parser throws anything else', async () => {
    await using server = await startServer(json([1]));
    const platform = clientAt(server.url);
    const read = () => {
      throw new Error('record 3 has no id, but abc');
    };

    const error = await caught(platform.call.read(searchCalculations, { body: { sort } }, read));

    expect(error.failure).toEqual({ kind: 'shape', faults: ['record 3 has no id, but [token]'] });
    expect(server.requests).toHaveLength(1);
  });

  test('is requested again if it was cut off', async () => {
    await using server = await startServer(bytes('{"results":['), json(calculations()));
    const platform = clientAt(server.url, { retry: { baseDelayMs: 1 } });

    await platform.calculations.search({ sort });

    expect(server.requests).toHaveLength(2);
  });

  test.each([
    [65_536, 'an error'],
    [65_537, 'a response'],
  ])('of %i bytes that looks like an error is %s', async (size, expected) => {
    const text = '{"error":"busy"}'.padEnd(size, ' ');
    await using server = await startServer(bytes(text));
    const platform = clientAt(server.url);

    const read = platform.call.raw(searchCalculations, { body: { sort } }, { once: true });
    const seen = await read.then(
      () => 'a response',
      () => 'an error',
    );

    expect(seen).toBe(expected);
  });

  test('is refused if it has over a million values, unless it cannot be requested again', async () => {
    await using server = await startServer(bytes(`[${'1,'.repeat(1_000_000)}1]`));
    const { call } = clientAt(server.url);
    const input = { body: { sort } };

    const error = await caught(call.raw(searchCalculations, input));
    const once = await call.raw({ ...searchCalculations, mayRepeat: false }, input);

    expect(error.failure).toEqual({
      kind: 'shape',
      faults: ['expected at most 1000000 values in a response, got more'],
    });
    expect(once.json).toHaveLength(1_000_001);
  });

  test('counts as odd if it had to be repaired, together with the members that the reader finds odd', async () => {
    await using server = await startServer(bytes('{"results":[NaN]}'));
    const events: PlatformEvent[] = [];
    const platform = clientAt(server.url, { observe: (event) => events.push(event) });
    const read: ReadAnswer<unknown> = (body, onOdd) => {
      const value = JSON.parse(body.toString());
      onOdd?.(['results.0: nothing']);
      return value;
    };

    const value = await platform.call.read(searchCalculations, { body: { sort } }, read);

    expect(value).toEqual({ results: [null] });
    expect(events.filter(({ kind }) => kind === 'odd')).toMatchObject([
      { members: ['the response: invalid JSON', 'results.0: nothing'] },
    ]);
  });
});

test.each<readonly [string, boolean, Reply]>([
  ['a response', true, json(calculations())],
  ...[400, 404, 409, 422].map((code) => [`a ${code}`, true, json({}, code)] as const),
  ...[401, 403, 429, 503].map((code) => [`a ${code}`, false, json({}, code)] as const),
  ['a page', false, page('Login')],
])('for the pace, a call that ends with %s was accepted: %s', async (_, isAccepted, reply) => {
  await using server = await startServer(reply);
  const accepted: unknown[] = [];
  const pace: Pace = {
    ...createFakePace(),
    async run(call, options) {
      const result = await call({ atMs: 0, waitedMs: 0 });
      accepted.push(options?.isAccepted?.(result));
      return result;
    },
  };

  await Promise.allSettled([clientAt(server.url, { pace }).calculations.search({ sort }, { once: true })]);

  expect(accepted).toEqual([isAccepted]);
});

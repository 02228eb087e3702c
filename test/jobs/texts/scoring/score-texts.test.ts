import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cacheKey, createScoreCache, textHashOf } from '../../../../lib/jobs/texts/cache/score-cache.ts';
import { type Scored, scoreTexts } from '../../../../lib/jobs/texts/scoring/score-texts.ts';
import type { Analyze } from '../../../../lib/jobs/texts/scoring/scoring-session.ts';
import type { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { PlatformError } from '../../../../lib/platform/platform-error.ts';
import type { Table } from '../../../../lib/table/table.ts';
import { fakeCall, lost as lostResponse, ok, status } from '../../../platform/fake-call.ts';
import { FAST_TABLES } from '../../../table/every-table.ts';
import {
  busy,
  HOST,
  longWait,
  lost,
  refusedText,
  scriptedAnalyze,
  sentBy,
  sentimentOf,
  unavailable,
  unreached,
  worker as workerOn,
} from '../fakes.ts';

const textsOf = (...texts: readonly string[]) => texts.map((text, index) => ({ id: `t${index}`, text }));

const rowOf = async (table: Table, text: string) => (await table.get(cacheKey(HOST, { text })))?.row;

const resultsOf = (scored: Scored) => (scored.kind === 'scored' ? scored.results : []);

describe.each(FAST_TABLES)('%s', (_, buildTable) => {
  const worker = (analyze: Analyze, table: Table = buildTable(), owner?: string) =>
    workerOn(analyze, table, owner);

  test('equal texts are paid for once, and every id gets its result', async () => {
    const { analyze, paid } = scriptedAnalyze();

    const scored = await scoreTexts(textsOf('good', 'bad', 'good'), {}, worker(analyze).options);

    expect(paid).toEqual(['good', 'bad']);
    expect(resultsOf(scored)).toEqual([
      { id: 't0', result: sentimentOf({ text: 'good' }), cached: false, calls: 1, paidAgain: 0 },
      { id: 't1', result: sentimentOf({ text: 'bad' }), cached: false, calls: 1, paidAgain: 0 },
      { id: 't2', result: sentimentOf({ text: 'good' }), cached: true, calls: 0, paidAgain: 0 },
    ]);
  });

  test('an equal request finds the cached result, from any session; a different request does not', async () => {
    const { analyze, paid } = scriptedAnalyze();
    const { options } = worker(analyze);
    await scoreTexts(textsOf('good'), { model: 'm1', topics: [] }, options);

    const same = await scoreTexts(
      textsOf('good'),
      { sessionId: '0', model: 'm1', instructions: undefined },
      options,
    );
    await scoreTexts(textsOf('good'), { model: 'm2' }, options);

    expect(resultsOf(same)[0]).toMatchObject({ cached: true, calls: 0 });
    expect(paid).toEqual(['good', 'good']);
  });

  test('a row stores the hash of the text and the unchanged response, but not the text', async () => {
    const { options, table } = worker(scriptedAnalyze().analyze);

    await scoreTexts(textsOf('good'), {}, options);

    const row = await rowOf(table, 'good');
    expect(row).toMatchObject({ state: 'SCORED', textHash: textHashOf('good') });
    expect(JSON.parse(String(row?.['result']))).toEqual(sentimentOf({ text: 'good' }));
  });

  test.each<[string, readonly PlatformFailure[], { calls: number; paidAgain: number }]>([
    ['a lost response', [lost], { calls: 2, paidAgain: 1 }],
    ['two server errors', [unavailable, unavailable], { calls: 3, paidAgain: 2 }],
    ['a 429', [busy, busy], { calls: 1, paidAgain: 0 }],
    ['a refused connection', [unreached], { calls: 1, paidAgain: 0 }],
    ['a refused token', [{ kind: 'status', status: 401 }], { calls: 1, paidAgain: 0 }],
  ])(
    'a text is retried after %s, and counted as paid again if it may have been executed',
    async (_, script, counts) => {
      const { analyze } = scriptedAnalyze({ good: script });

      const scored = await scoreTexts(textsOf('good'), {}, worker(analyze).options);

      expect(resultsOf(scored)).toMatchObject([{ cached: false, ...counts }]);
    },
  );

  test('a text that the platform refuses fails alone, and its row is deleted', async () => {
    const { analyze } = scriptedAnalyze({ odd: [refusedText] });
    const { options, table } = worker(analyze);

    const scored = await scoreTexts(textsOf('odd', 'good'), {}, options);

    expect(resultsOf(scored)).toEqual([
      {
        id: 't0',
        error: expect.stringContaining('responded with 400'),
        cached: false,
        calls: 0,
        paidAgain: 0,
      },
      expect.objectContaining({ id: 't1', calls: 1 }),
    ]);
    expect(await rowOf(table, 'odd')).toBeUndefined();
  });

  test('a failure that says nothing about the text stops the session; the lost sends are counted next time', async () => {
    const { analyze, paid } = scriptedAnalyze({ good: [lost, lost] });
    const { options, table } = worker(analyze);
    const once = { ...options, retry: { maxRetries: 1 } };

    const stopped = await scoreTexts(textsOf('good', 'fine'), {}, once);
    const left = await rowOf(table, 'good');
    const again = await scoreTexts(textsOf('good', 'fine'), {}, once);

    expect(stopped).toMatchObject({
      kind: 'stopped',
      isSystemic: false,
      error: { message: expect.stringContaining('the connection broke') },
      results: [{ calls: 2, error: expect.stringContaining('not scored: ') }, { calls: 1 }],
    });
    expect(left).toMatchObject({ state: 'FREE', sends: 2 });
    expect(resultsOf(again)).toMatchObject([
      { calls: 3, paidAgain: 2 },
      { cached: true, calls: 0 },
    ]);
    expect(paid.filter((text) => text === 'fine')).toHaveLength(1);
  });

  test('a long wait before any call has left requeues the job, and no text is claimed', async () => {
    const { analyze, paid } = scriptedAnalyze({ good: [longWait] });
    const { options, table, slept } = worker(analyze);

    const scored = await scoreTexts(textsOf('good'), {}, options);

    expect(scored).toEqual({ kind: 'later', waiting: 1, delayMs: 40_000 });
    expect(await rowOf(table, 'good')).toBeUndefined();
    expect([paid, slept]).toEqual([[], []]);
  });

  test('an expired send is taken over, and counted', async () => {
    const table = buildTable();
    const dead = worker(scriptedAnalyze().analyze, table, 'dead');
    await sentBy(dead, 'sent');
    const alive = worker(scriptedAnalyze().analyze, table, 'alive');
    alive.pass(90_000);

    const scored = await scoreTexts(textsOf('sent'), {}, alive.options);

    expect(resultsOf(scored)).toMatchObject([{ calls: 2, paidAgain: 1 }]);
  });

  test('a text that another worker holds is waited for, after the others', async () => {
    const table = buildTable();
    const other = worker(scriptedAnalyze().analyze, table, 'other');
    const held = await sentBy(other, 'held');
    const { analyze, paid } = scriptedAnalyze();
    const { options, slept } = worker(analyze, table);
    const sleep = async (ms: number) => {
      await options.sleep(ms);
      if (slept.length === 2) await held.finish(sentimentOf({ text: 'held' }));
    };

    const scored = await scoreTexts(textsOf('held', 'good'), {}, { ...options, sleep });

    expect(resultsOf(scored)).toMatchObject([
      { id: 't0', cached: true },
      { id: 't1', cached: false },
    ]);
    expect(paid).toEqual(['good']);
    expect(slept).toEqual([250, 500]);
  });

  test('if the deadline comes before another worker’s lease ends, the session asks to be repeated when it does', async () => {
    const table = buildTable();
    await sentBy(worker(scriptedAnalyze().analyze, table, 'other'), 'held');
    const { options } = worker(scriptedAnalyze().analyze, table);

    const scored = await scoreTexts(textsOf('held', 'good'), {}, { ...options, deadlineMs: 1_001_000 });

    expect(scored).toEqual({ kind: 'later', waiting: 1, delayMs: 89_250 });
  });

  test('a claim excludes other workers for an attempt and 30 s more, and no longer', async () => {
    const table = buildTable();
    await sentBy(worker(scriptedAnalyze().analyze, table, 'first'), 'good');
    const other = worker(scriptedAnalyze().analyze, table, 'other');

    other.pass(89_999);
    const [before] = await other.cache.lookup([{ text: 'good' }]);
    other.pass(1);
    const [after] = await other.cache.lookup([{ text: 'good' }]);

    expect(before).toEqual({ kind: 'held', untilMs: 1_090_000 });
    expect(after).toMatchObject({ kind: 'open' });
  });

  test('a freed text is scored by another worker immediately, not only when its lease would have ended', async () => {
    const table = buildTable();
    await (await sentBy(worker(scriptedAnalyze().analyze, table, 'first'), 'good')).release();
    const { options, slept } = worker(scriptedAnalyze().analyze, table, 'other');

    const scored = await scoreTexts(textsOf('good'), {}, options);

    expect(resultsOf(scored)).toMatchObject([{ cached: false, calls: 2, paidAgain: 1 }]);
    expect(slept).toEqual([]);
  });

  test('a text scored for other topics is a different text, and no topics are the same as an empty list', () => {
    const keyOf = (topics?: readonly { readonly topic: string }[]) =>
      cacheKey(HOST, { text: 'good', ...(topics && { topics: [...topics] }) }).partition;

    expect(keyOf([{ topic: 'price' }])).not.toBe(keyOf([{ topic: 'taste' }]));
    expect(keyOf([{ topic: 'price' }])).not.toBe(keyOf());
    expect(keyOf([])).toBe(keyOf());
  });

  test('a late result replaces the claim of the worker that took the text over, and no one pays again', async () => {
    const table = buildTable();
    const slow = worker(scriptedAnalyze().analyze, table, 'slow');
    const first = await sentBy(slow, 'good');
    const next = worker(scriptedAnalyze().analyze, table, 'next');
    next.pass(90_000);
    const second = await sentBy(next, 'good');

    const finished = await first.finish(sentimentOf({ text: 'good' }));

    expect(finished.calls).toBe(2);
    expect(await second.send()).toMatchObject({ kind: 'scored', calls: 0 });
  });

  test('an abort after the send leaves the text free, with the send counted', async () => {
    const { options, table } = worker(async (_request, { beforeSend, onSend } = {}) => {
      await beforeSend?.();
      onSend?.();
      throw new DOMException('stop', 'AbortError');
    });

    const stopped = await scoreTexts(textsOf('good'), {}, options);

    expect(stopped).toMatchObject({ kind: 'stopped', error: { message: 'stop' }, results: [{ calls: 1 }] });
    expect(await rowOf(table, 'good')).toMatchObject({ state: 'FREE', sends: 1 });
  });

  describe('a text whose recorded send never left', () => {
    test('because its slot was too late can be claimed again, and the send is not counted', async () => {
      const { options, table } = worker(async (_request, { beforeSend } = {}) => {
        await beforeSend?.();
        throw new PlatformError(longWait, { operation: 'analyzeSentiment', about: 'a text', attempts: 1 });
      });

      const scored = await scoreTexts(textsOf('good'), {}, options);

      expect(scored.kind).toBe('later');
      expect(await rowOf(table, 'good')).toBeUndefined();
    });

    test('because it was aborted while it waited can be claimed again, and the send is not counted', async () => {
      const { options, table } = worker(async (_request, { beforeSend } = {}) => {
        await beforeSend?.();
        throw new DOMException('stop', 'AbortError');
      });

      const stopped = await scoreTexts(textsOf('good'), {}, options);

      expect(stopped).toMatchObject({ kind: 'stopped', error: { message: 'stop' } });
      expect(await rowOf(table, 'good')).toBeUndefined();
    });

    test('is not sent once another worker may have taken it over', async () => {
      const table = buildTable();
      let hasLeft = false;
      const late = worker(async (request, { beforeSend, onSend } = {}) => {
        await beforeSend?.();
        late.pass(90_000);
        onSend?.();
        hasLeft = true;
        return sentimentOf(request);
      }, table);

      await scoreTexts(textsOf('good'), {}, { ...late.options, deadlineMs: 1_000_000 + 60_000 });

      expect(hasLeft).toBe(false);
    });
  });

  test('a write whose response was lost is recognized by its token', async () => {
    const table = buildTable();
    let writes = 0;
    const flaky = {
      ...table,
      async put(...put: Parameters<typeof table.put>) {
        const result = await table.put(...put);
        writes += 1;
        if (writes === 2) throw new Error('the response was lost');
        return result;
      },
    };

    const scored = await scoreTexts(textsOf('good'), {}, worker(scriptedAnalyze().analyze, flaky).options);

    expect(resultsOf(scored)).toMatchObject([{ cached: false, calls: 1, paidAgain: 0 }]);
  });

  test('two workers on the same texts pay for each text once, whatever the interleaving', async () => {
    const lists = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), lists, lists, async (scheduler, first, second) => {
        const memory = buildTable();
        const table = {
          ...memory,
          getAll: scheduler.scheduleFunction(memory.getAll),
          put: scheduler.scheduleFunction(memory.put),
          delete: scheduler.scheduleFunction(memory.delete),
        };
        const { analyze, paid } = scriptedAnalyze();
        const run = (owner: string, texts: readonly string[]) => {
          const { options } = worker(analyze, table, owner);
          // Sleeping takes no time, so that no lease ends.
          const sleep = scheduler.scheduleFunction(async () => undefined);
          return scoreTexts(textsOf(...texts), {}, { ...options, now: () => 1_000_000, sleep });
        };

        const both = Promise.all([run('one', first), run('two', second)]);
        await scheduler.waitFor(both);

        const [one, two] = (await both).map(resultsOf);
        expect(paid.toSorted()).toEqual([...new Set([...first, ...second])].sort());
        expect(one?.map(({ result }) => result)).toEqual(first.map((text) => sentimentOf({ text })));
        const calls = [...(one ?? []), ...(two ?? [])].reduce((sum, result) => sum + result.calls, 0);
        expect(calls).toBe(paid.length);
      }),
      { numRuns: 300 },
    );
  });

  test('if two workers score the same texts, the slower worker continues with other texts', async () => {
    const memory = buildTable();
    let overtaken = 0;
    const put: Table['put'] = async (...row) => {
      await turn();
      const written = await memory.put(...row);
      if (written.kind !== 'stored') overtaken += 1;
      return written;
    };
    const { analyze, paid } = scriptedAnalyze();
    const texts = Array.from({ length: 100 }, (_, at) => `text ${at}`);
    const run = (owner: string, random: () => number) => {
      const { options } = worker(analyze, { ...memory, put }, owner);
      return scoreTexts(textsOf(...texts), {}, { ...options, random, sleep: () => turn() });
    };

    await Promise.all([run('one', () => 0.3), run('two', () => 0.6)]);

    expect(paid.toSorted()).toEqual(texts.toSorted());
    expect(overtaken).toBeLessThan(15);
  });

  test('the client records each attempt before it leaves, and distinguishes its failures', async () => {
    const { platform, sent } = fakeCall([
      status(429, 7_000),
      lostResponse,
      status(401),
      ok(sentimentOf({ text: 'good' })),
    ]);
    const { options, slept, table } = worker(platform.sentiment.analyze);

    const scored = await scoreTexts(textsOf('good'), {}, options);

    expect(resultsOf(scored)).toMatchObject([{ id: 't0', cached: false, calls: 2, paidAgain: 1 }]);
    expect(sent).toHaveLength(4);
    expect(slept).toEqual([7_000, 250, 0]);
    expect(await rowOf(table, 'good')).toMatchObject({ state: 'SCORED', sends: 2 });
  });

  test('a call of the client that is in flight when the session is stopped finishes, and its result is stored', async () => {
    const stop = new AbortController();
    const { platform, sent } = fakeCall([
      async (signal) => {
        stop.abort(new Error('enough'));
        signal?.throwIfAborted();
        return ok(sentimentOf({ text: 'good' }));
      },
    ]);
    const { options, table } = worker(platform.sentiment.analyze);

    const scored = await scoreTexts(textsOf('good'), {}, { ...options, signal: stop.signal });

    expect(resultsOf(scored)).toMatchObject([{ id: 't0', calls: 1, paidAgain: 0 }]);
    expect(sent).toHaveLength(1);
    expect(await rowOf(table, 'good')).toMatchObject({ state: 'SCORED', sends: 1 });
  });

  test('what a job paid for in an earlier try counts as its own, and as cached for other jobs', async () => {
    const { analyze, paid } = scriptedAnalyze();
    const { options } = worker(analyze);
    await scoreTexts(textsOf('good', 'bad'), {}, { ...options, jobId: 'job-1' });

    const again = await scoreTexts(textsOf('good', 'good'), {}, { ...options, jobId: 'job-1' });
    const other = await scoreTexts(textsOf('good'), {}, { ...options, jobId: 'job-2' });

    expect(paid).toEqual(['good', 'bad']);
    expect(resultsOf(again).map(({ cached, calls }) => ({ cached, calls }))).toEqual([
      { cached: false, calls: 1 },
      { cached: true, calls: 0 },
    ]);
    expect(resultsOf(other)).toMatchObject([{ cached: true, calls: 0 }]);
  });

  test('nothing is sent if recording the send took so long that the attempt could outlast the claim', async () => {
    let nowMs = 0;
    const now = () => nowMs;
    const table = buildTable();
    const slow: typeof table = {
      ...table,
      put: async (key, row, options) => {
        const stored = await table.put(key, row, options);
        if (row['state'] === 'SENT') nowMs += 30_001;
        return stored;
      },
    };
    const cache = createScoreCache({
      table: slow,
      attemptMs: 60_000,
      host: HOST,
      owner: 'slow',
      now,
      newToken: randomUUID,
    });
    const [looked] = await cache.lookup([{ text: 'good' }]);

    const sent = looked?.kind === 'open' && (await looked.claim.send());

    expect(sent).toEqual({ kind: 'held', untilMs: 30_001 });
    expect(await rowOf(table, 'good')).toBeUndefined();
  });
});

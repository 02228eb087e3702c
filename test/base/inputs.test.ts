import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod/mini';
import { pastMoment } from '../../lib/base/index.ts';
import { analyzeSentiment } from '../../lib/platform/operations/analyze-sentiment.ts';
import { getDataFile } from '../../lib/platform/operations/get-data-file.ts';
import { runFunction } from '../../lib/platform/operations/run-function.ts';
import { searchCalculations } from '../../lib/platform/operations/search-calculations.ts';
import { searchFiles } from '../../lib/platform/operations/search-files.ts';
import { updateFormula } from '../../lib/platform/operations/update-formula.ts';
import { caught } from '../platform/caught.ts';
import { fakeCall, ok } from '../platform/fake-call.ts';
import { calculations, sentiment } from '../platform/sample-records.ts';

const sort = { field: 'id', ascending: true };
const packageId = '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b';

describe('before anything is sent, inputs are checked:', () => {
  test('all faults are reported together, each with its path, what was expected and what was found', async () => {
    const { call, sent, log } = fakeCall([ok({})]);

    const error = await caught(
      call(searchFiles, {
        path: { filesetId: 'no-uuid' },
        query: { limit: 0, immediateChildren: 'yes' },
        body: { dateFilters: [{ field: 'created', start: 'yesterday' }], filter: [] },
      }),
    );

    const faults = [
      'filesetId: expected a UUID (8-4-4-4-12 hex digits), got "no-uuid"',
      'immediateChildren: expected true or false, got "yes"',
      'limit: expected a whole number from 1 to 5000, got 0',
      'dateFilters.0.start: expected an ISO 8601 date-time, got "yesterday"',
      'filter: not a known name',
    ];
    expect(error.failure).toEqual({ kind: 'input', faults });
    expect(error.message).toBe(
      `searchFiles (not sent) failed: invalid input, nothing was sent: ${faults.join('; ')}`,
    );
    expect(error.sent).toBe(false);
    expect(error.attempts).toBe(0);
    expect(sent).toEqual([]);
    expect(log).toEqual([]);
  });

  test.for([0, -1, 5001, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '10', null])(
    'a search of calculations with limit %s is refused',
    async (limit) => {
      const { call, sent } = fakeCall([ok(calculations())]);

      const error = await caught(call(searchCalculations, { body: { sort, limit } }));

      expect(error.message).toContain('limit: expected a whole number from 1 to 5000, got ');
      expect(sent).toEqual([]);
    },
  );

  test('a search of calculations without a sort, which would silently find nothing, is refused', async () => {
    const { call, sent } = fakeCall([ok(calculations())]);

    const error = await caught(call(searchCalculations, { body: { limit: 10 } }));

    expect(error.message).toContain('sort: expected an object, got nothing');
    expect(sent).toEqual([]);
  });

  test.for([
    '',
    'zz5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b',
    '0d5d6f3e41c54f0c9b3c0c1d2e3f4a5b',
    `${packageId}/..`,
  ])('a package id of %j is refused', async (wrong) => {
    const { platform, sent } = fakeCall([ok({})]);

    const error = await caught(
      platform.functions.run({ packageId: wrong, version: '1.0.0', functionName: 'score' }),
    );

    expect(error.message).toContain('packageId: expected a UUID');
    expect(sent).toEqual([]);
  });

  test.for(['', '1st', '_topic', 'two words', 'na-me', 'ünder', `a${'b'.repeat(100)}`, 'line\n'])(
    'a topic named %j is refused',
    async (topic) => {
      const { platform, sent } = fakeCall([ok(sentiment())]);

      const error = await caught(platform.sentiment.analyze({ text: 'fine', topics: [{ topic }] }));

      expect(error.message).toContain(
        'topics.0.topic: expected a topic name: a letter, then letters, digits or underscores, 1 to 100 in total',
      );
      expect(sent).toEqual([]);
    },
  );

  test('more than 50 topics, an invalid topic, and a repeated topic are refused', async () => {
    const { platform, sent } = fakeCall([ok(sentiment())]);
    const topics = Array.from({ length: 50 }, (_, index) => ({ topic: `topic_${index}` }));

    const error = await caught(
      platform.sentiment.analyze({ text: 'fine', topics: [{ topic: '' }, ...topics, { topic: 'topic_7' }] }),
    );

    expect(error.failure).toEqual({
      kind: 'input',
      faults: [
        'topics.0.topic: expected a topic name: a letter, then letters, digits or underscores, 1 to 100 in total, got ""',
        'topics: expected topics with different names, got a list of 52',
        'topics: expected at most 50 topics, got a list of 52',
      ],
    });
    expect(sent).toEqual([]);
  });

  test('50 topics with names of 1 to 100 characters are accepted', async () => {
    const { platform, sent } = fakeCall([ok(sentiment())]);
    const topics = Array.from({ length: 48 }, (_, index) => ({ topic: `topic_${index}` }));

    await platform.sentiment.analyze({
      text: 'fine',
      topics: [{ topic: 'A' }, { topic: `a${'9'.repeat(99)}` }, ...topics],
    });

    expect(sent).toHaveLength(1);
  });

  test('a session that is not a UUID, and an empty list of messages, are refused', async () => {
    const { call, sent } = fakeCall([ok(sentiment())]);

    const error = await caught(call(analyzeSentiment, { body: { input: [], sessionId: 'mine' } }));

    expect(error.failure).toMatchObject({
      faults: [
        'input: expected at least one message, got a list of 0',
        'sessionId: expected a UUID (8-4-4-4-12 hex digits), got "mine"',
      ],
    });
    expect(sent).toEqual([]);
  });

  test.for(['', ' ', '\n\t'])('an expression of %j is refused', async (expression) => {
    const { platform, sent } = fakeCall([ok({})]);

    const error = await caught(platform.calculations.updateFormula(17, expression));

    expect(error.message).toContain('expression: expected text that is not empty');
    expect(sent).toEqual([]);
  });

  test('a lone surrogate is refused in an id that is part of a URL', async () => {
    const { call, sent } = fakeCall([ok({})]);

    const path = { packageId, version: '1', functionName: '\ud800' };
    const named = await caught(call(runFunction, { path, body: {} }));
    const query = { directoryPath: 'a\udc00b' };
    const searched = await caught(call(searchFiles, { path: { filesetId: packageId }, query, body: {} }));

    expect(named.message).toContain('functionName: expected well-formed Unicode, got "\\ud800"');
    expect(searched.message).toContain('directoryPath: expected well-formed Unicode, got "a\\udc00b"');
    expect(sent).toEqual([]);
  });

  test('an id that was rounded to a number is refused', async () => {
    const { call, sent } = fakeCall([ok({})]);

    const update = await caught(
      call(updateFormula, { path: { calculationId: 2 ** 53 }, body: { expression: 'SUM(1)' } }),
    );
    const read = await caught(call(getDataFile, { path: { dataFileId: '12a' } }));

    expect(update.message).toContain(
      'calculationId: expected an integer of at most 64 digits (as text or a bigint beyond 2^53)',
    );
    expect(read.message).toContain(
      'dataFileId: expected an integer of at most 64 digits (as text or a bigint beyond 2^53)',
    );
    expect(sent).toEqual([]);
  });
});

test('an end date of today means the current time, and an earlier end date means the end of its day', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-21T09:15:00Z'), toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());

  const moments = ['2026-11-21', '2026-11-20'].map((day) => new Date(z.parse(pastMoment, day)).toISOString());

  expect(moments).toEqual(['2026-11-21T09:15:00.000Z', '2026-11-20T23:59:59.999Z']);
});

import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { endpoints } from '../../lib/platform/operations/index.ts';
import { searchCalculations } from '../../lib/platform/operations/search-calculations.ts';
import { caught } from './caught.ts';
import { fakeCall, ok } from './fake-call.ts';
import {
  calculation,
  calculationRow,
  calculations,
  card,
  dataFile,
  execution,
  file,
  files,
  revision,
  sentiment,
} from './sample-records.ts';

const sort = { field: 'id', ascending: true };
const uuid = '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b';
const run = { packageId: uuid, version: '1.0.0', functionName: 'score' };

describe('a response', () => {
  test('is accepted if it is as the platform documents it, with ids as digits', () => {
    const pathIds = { calculationId: '17', datasetId: uuid, filesetId: uuid, dataFileId: '12', version: '1' };
    const input = { path: { ...pathIds, packageId: uuid, functionName: 'f' }, body: {} } as never;
    const read = (name: keyof typeof endpoints, json: unknown) =>
      z.parse(endpoints[name].output(input), json);

    expect(read('updateFormula', calculation())).toEqual(calculation({ id: '17' }));
    expect(read('searchCalculations', calculations(calculationRow()))).toEqual(
      calculations(calculationRow({ id: '17' })),
    );
    expect(read('searchFiles', files('n', file()))).toEqual(files('n', file()));
    expect(read('listCards', [card()])).toEqual([card({ id: '31' })]);
    expect(read('runFunction', execution())).toEqual(execution());
    expect(read('analyzeSentiment', sentiment())).toEqual(sentiment());
    expect(read('getDataFile', dataFile({ revisions: [revision()] }))).toEqual(
      dataFile({ dataFileId: '12', revisions: [revision()] }),
    );
  });

  test('keeps unknown fields, at every depth', async () => {
    const link = { resource: { type: 'VIEW', id: '1', flavour: 'new' }, valid: 'VALID', since: 3 };
    const { platform } = fakeCall([ok(calculations(calculationRow({ colour: 'red', links: [link] })))]);

    const response = await platform.calculations.search({ sort });

    expect(response.rows).toMatchObject([{ colour: 'red', links: [link] }]);
  });

  test('keeps unknown enum values, with their letter case', async () => {
    const calls = fakeCall([
      ok(calculation({ status: 'Half_Valid', dataType: 'money', cacheWindow: 'fortnight' })),
    ]);
    const lists = fakeCall([ok(files(null, file({ fileType: 'HOLOGRAM', indexStatus: 'dreaming' })))]);
    const runs = fakeCall([ok(execution({ status: 'PAUSED' }))]);
    const scores = fakeCall([ok(sentiment({ topicSentiments: { price: 'Mixed' } }))]);
    const cards = fakeCall([ok([card({ type: 'poem', chartType: null })])]);

    const updated = await calls.platform.calculations.updateFormula(17, 'SUM(1)');
    const listed = await lists.platform.files.pages(uuid).next();
    const ran = await runs.platform.functions.run(run);
    const scored = await scores.platform.sentiment.analyze({ text: 'dear', topics: [{ topic: 'price' }] });
    const carded = await cards.platform.cards.ofDataset(uuid);

    expect(updated).toMatchObject({ status: 'Half_Valid', dataType: 'money', cacheWindow: 'fortnight' });
    expect(listed.value).toMatchObject({ rows: [{ fileType: 'HOLOGRAM', indexStatus: 'dreaming' }] });
    expect(ran.status).toBe('PAUSED');
    expect(scored.topicSentiments).toEqual({ price: 'Mixed' });
    expect(carded).toMatchObject([{ type: 'poem', chartType: null }]);
  });

  test('keeps ids beyond 2^53, parsed and in the raw response', async () => {
    const id = 9007199254740993n;
    const { call, platform } = fakeCall([ok(calculations(calculationRow({ id, owner: id + 2n })))]);

    const response = await platform.calculations.search({ sort });
    const raw = await call.raw(searchCalculations, { body: { sort } });

    expect(response.rows).toMatchObject([{ id: '9007199254740993', owner: id + 2n }]);
    expect(raw.text).toContain('"id":9007199254740993,');
    expect(raw.json).toMatchObject({ results: [{ id: 9007199254740993n }] });
  });
});

/** Values that the platform may send in place of a member. */
const ODD = [undefined, null, 5, 'x', true, [], ['x'], {}, { id: 'x', log: 5 }];

/** Variants of the record: each member except those in `kept` is replaced by each odd value. */
const oddRecords = (record: Readonly<Record<string, unknown>>, kept: readonly string[]) =>
  Object.keys(record)
    .filter((name) => !kept.includes(name))
    .flatMap((name) => ODD.map((odd) => ({ ...record, [name]: odd })));

const asSent = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('members that the client does not need may be absent, null, or of any type, and are unchanged', () => {
  test('in calculations', async () => {
    const rows = oddRecords(calculationRow(), ['id']);
    const { platform } = fakeCall([ok({ results: rows, totalHits: 'many', hasMore: {}, degraded: 'no' })]);

    const page = await platform.calculations.search({ sort });

    expect(page).toEqual({ rows: asSent(rows.map((row) => ({ ...row, id: '17' }))), degraded: false });
  });

  test('in files', async () => {
    const rows = oddRecords(file(), ['id']);
    const { platform } = fakeCall([ok({ files: rows, pageContext: { next: null, total: {} } })]);

    expect((await platform.files.pages(uuid).next()).value).toEqual({ rows: asSent(rows), degraded: false });
  });

  test('in cards, whose id may be in any of three fields', async () => {
    const rows = oddRecords(card(), ['id']);
    const named = [{ urn: '12' }, { id: null, urn: 'urn:card:13' }, { id: 'x', urn: null, kpiId: 14 }];
    const drill = { urn: 'dr:15:10' };
    const { platform } = fakeCall([ok([...rows, ...named, drill])]);

    const cards = await platform.cards.ofDataset(uuid);

    expect(cards.slice(0, rows.length)).toEqual(asSent(rows.map((row) => ({ ...row, id: '31' }))));
    expect(cards.slice(rows.length).map(({ id }) => id)).toEqual(['12', '13', '14', '15']);
  });

  test.each(oddRecords(execution(), ['status']))('in an execution: %j', async (odd) => {
    const { platform } = fakeCall([ok(odd)]);

    expect(await platform.functions.run(run)).toEqual(asSent(odd));
  });

  test.each(oddRecords(calculation(), ['id']))('in an updated calculation: %j', async (odd) => {
    const { platform } = fakeCall([ok(odd)]);

    expect(await platform.calculations.updateFormula(17, 'SUM(1)')).toEqual(asSent({ ...odd, id: '17' }));
  });

  test.each([null, 'text', 5, [], [1], {}, { id: null }, { id: '017' }])(
    'even if the whole response to an update is %j',
    async (answer) => {
      const { platform } = fakeCall([ok(answer)]);

      expect(await platform.calculations.updateFormula(17, 'SUM(1)')).toEqual({ id: '17' });
    },
  );

  test.each([
    ...oddRecords(dataFile({ revisions: [revision()] }), ['dataFileId']),
    ...[undefined, null, 'x', true, [], {}, 1.5].map((dataFileId) => dataFile({ dataFileId })),
  ])('in a data file: %j', async (odd) => {
    const { platform } = fakeCall([ok(odd)]);

    const { dataFileId, ...rest } = await platform.dataFiles.get(12);

    expect(dataFileId).toBe('12');
    expect(rest).toEqual({ ...asSent(odd), dataFileId: undefined });
  });
});

describe('the sentiment of each requested topic', () => {
  const topics = [{ topic: 'price' }, { topic: 'service' }];
  const analyzed = async (answer: unknown) => {
    const { platform, sent } = fakeCall([ok(answer)]);
    const { topicSentiments } = await platform.sentiment.analyze({ text: 'dear', topics });
    return { topicSentiments, calls: sent.length };
  };

  test.each([
    [
      { price: 'NEGATIVE', service: 'positive' },
      { price: 'NEGATIVE', service: 'positive' },
    ],
    [
      { price: 'NEGATIVE', service: null },
      { price: 'NEGATIVE', service: null },
    ],
    [{ price: 'NEGATIVE' }, { price: 'NEGATIVE', service: null }],
    [
      { PRICE: 'x', ' Service ': 5 },
      { price: 'x', service: 5 },
    ],
    [
      { Price: 'other', price: 'own', more: {} },
      { Price: 'other', price: 'own', more: {}, service: null },
    ],
    [
      { price: { label: 'x' }, service: ['y'] },
      { price: { label: 'x' }, service: ['y'] },
    ],
    [undefined, { price: null, service: null }],
    [null, { price: null, service: null }],
    [['price'], { price: null, service: null }],
    ['price', { price: null, service: null }],
  ])('in the response %j is %j', async (topicSentiments, expected) => {
    expect(await analyzed({ topicSentiments, sessionId: 5 })).toEqual({
      topicSentiments: expected,
      calls: 1,
    });
  });

  test.each([null, [], 'x', 5, {}])('is null if the response has only %j', async (answer) => {
    expect(await analyzed(answer)).toEqual({ topicSentiments: { price: null, service: null }, calls: 1 });
  });

  test.each(oddRecords(sentiment(), ['topicSentiments']))('is returned even beside %j', async (odd) => {
    expect(await analyzed(odd)).toEqual({ topicSentiments: sentiment().topicSentiments, calls: 1 });
  });

  test('is absent if no topics were requested, and there is only the sentiment of the text', async () => {
    const { platform } = fakeCall([ok({ sentiment: 'Positive', topicSentiments: 'none' }), ok({})]);

    expect(await platform.sentiment.analyze({ text: 'fine' })).toEqual({
      sentiment: 'Positive',
      _topicSentiments: 'none',
    });
    expect(await platform.sentiment.analyze({ text: 'fine' })).toEqual({});
  });
});

describe('members that the client needs are required, and the error names the field and the record', () => {
  const rowWithout = (field: string) =>
    Object.fromEntries(Object.entries(calculationRow({ id: 99 })).filter(([name]) => name !== field));

  test('for the id of a calculation, which the error names by its position', async () => {
    const { platform } = fakeCall([ok(calculations(calculationRow(), rowWithout('id')))]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(error.message).toContain(
      'results.1.id: expected an integer of at most 64 digits (as text or a bigint beyond 2^53), got nothing',
    );
    expect(error.sent).toBe(true);
  });

  test('for several records together, at most ten', async () => {
    const rows = Array.from({ length: 14 }, () => rowWithout('id'));
    const { platform } = fakeCall([ok(calculations(...rows))]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(error.failure).toMatchObject({
      faults: expect.arrayContaining([expect.stringContaining('results.9.id'), 'and 4 more']),
    });
  });

  test('for a missing list of rows if the total says that there are rows', async () => {
    const { platform } = fakeCall([ok({ results: null, totalHits: 3 })]);
    const listing = fakeCall([ok({ pageContext: { total: '3' } })]);

    const error = await caught(platform.calculations.search({ sort }));
    const listed = await caught(listing.platform.files.pages(uuid).next());

    expect(error.message).toContain('results: expected a list, since the response has a total, got null');
    expect(listed.message).toContain('files: expected a list, since the response has a total, got nothing');
  });

  test('for the cursor, the status, and an id that was not requested', async () => {
    const listing = fakeCall([ok({ files: [], pageContext: { next: {} } })]);
    const running = fakeCall([ok(execution({ status: undefined }))]);
    const updating = fakeCall([ok(calculation({ id: 9007199254740993n }))]);
    const reading = fakeCall([ok(dataFile({ dataFileId: '13' }))]);

    const listed = await caught(listing.platform.files.pages(uuid).next());
    const ran = await caught(running.platform.functions.run(run));
    const updated = await caught(updating.platform.calculations.updateFormula(17, 'SUM(1)'));
    const read = await caught(reading.platform.dataFiles.get(12));

    expect(listed.message).toContain('pageContext: expected text or null as its next, got an object');
    expect(ran.message).toContain('status: expected text, got nothing');
    expect(ran.sent).toBe(true);
    expect(updated.message).toContain('calculation 17');
    expect(updated.message).toContain('id: expected 17, got 9007199254740993');
    expect(read.message).toContain('data file 12');
    expect(read.message).toContain('dataFileId: expected 12, got "13"');
  });

  test.each(['text', 5, [], [{ id: 1 }]])(
    'so a response that should be a list and is not is refused: %j',
    async (body) => {
      const { platform } = fakeCall([ok(body)]);

      expect((await caught(platform.calculations.search({ sort }))).failure.kind).toBe('shape');
    },
  );

  test('but a response that is null counts as an empty list', async () => {
    const { platform } = fakeCall([ok(null)]);
    const failing = fakeCall([ok({ errorCode: 'X', errorMessage: 'busy' })]);

    expect(await platform.cards.ofDataset(uuid)).toEqual([]);
    expect((await platform.calculations.search({ sort })).rows).toEqual([]);
    expect((await platform.files.pages(uuid).next()).done).toBe(true);
    expect((await caught(failing.platform.calculations.search({ sort }))).failure.kind).toBe('shape');
  });

  test('but a raw call returns any response as it was received', async () => {
    const { call } = fakeCall([ok({ odd: true })]);

    const response = await call.raw(searchCalculations, { body: { sort } });

    expect(response).toEqual({ text: '{"odd":true}', json: { odd: true } });
  });
});

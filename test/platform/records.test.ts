import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { endpoints } from '../../lib/platform/endpoints.ts';
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
  test('as the contract defines it passes, with its ids as digits', async () => {
    const ids = { id: '17', owner: '5' };

    expect(z.parse(endpoints.updateFormula.output, calculation())).toEqual(calculation(ids));
    expect(z.parse(endpoints.searchCalculations.output, calculations(calculationRow()))).toEqual(
      calculations(calculationRow(ids)),
    );
    expect(z.parse(endpoints.searchFiles.output, files('n', file()))).toEqual(
      files('n', file({ createdBy: '5' })),
    );
    expect(z.parse(endpoints.listCards.output, [card()])).toEqual([card({ id: '31', ownerId: '5' })]);
    expect(z.parse(endpoints.runFunction.output, execution())).toEqual(execution());
    expect(z.parse(endpoints.analyzeSentiment.output, sentiment())).toEqual(sentiment());
    expect(z.parse(endpoints.getDataFile.output, dataFile({ revisions: [revision()] }))).toEqual(
      dataFile({
        dataFileId: '12',
        responsibleUserId: '5',
        revisions: [revision({ dataFileRevisionId: '900', dataFileId: '12', uploadUserId: '5' })],
      }),
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

  test('keeps ids beyond 2^53, parsed and as raw text', async () => {
    const id = 9007199254740993n;
    const { call, platform } = fakeCall([ok(calculations(calculationRow({ id, owner: id + 2n })))]);

    const response = await platform.calculations.search({ sort });
    const raw = await call.raw(searchCalculations, { body: { sort } });

    expect(response.rows).toMatchObject([{ id: '9007199254740993', owner: '9007199254740995' }]);
    expect(raw.text).toContain('"id":9007199254740993,');
    expect(raw.json).toMatchObject({ results: [{ id: 9007199254740993n }] });
  });
});

describe('a missing field that the contract requires is an error that names the field and the record', () => {
  const rowWithout = (field: string) =>
    Object.fromEntries(Object.entries(calculationRow({ id: 99 })).filter(([name]) => name !== field));

  test.for([
    'name',
    'owner',
    'lastModified',
    'created',
    'global',
    'locked',
    'legacyId',
    'status',
    'links',
    'archived',
    'activeLinks',
  ])('%s of a calculation in a list', async (field) => {
    const { platform } = fakeCall([ok(calculations(calculationRow(), rowWithout(field)))]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(error.failure.kind).toBe('shape');
    expect(error.message).toMatch(
      new RegExp(
        String.raw`^searchCalculations \(calculations from 0\) failed: the response does not match the contract: results\.1\.${field} \(id 99\): expected .+, got nothing$`,
      ),
    );
    expect(error.sent).toBe(true);
  });

  test('the id itself: then the record is named by its position', async () => {
    const { platform } = fakeCall([ok(calculations(calculationRow(), rowWithout('id')))]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(error.message).toContain(
      'results.1.id: expected an integer of at most 64 digits (as text or a bigint beyond 2^53), got nothing',
    );
  });

  test('several fields of several records at once, and no more than ten', async () => {
    const rows = Array.from({ length: 8 }, (_, index) => ({ ...rowWithout('name'), id: index, links: 5 }));
    const { platform } = fakeCall([ok(calculations(...rows))]);

    const error = await caught(platform.calculations.search({ sort }));

    expect(error.failure).toMatchObject({
      faults: expect.arrayContaining([
        'results.0.name (id 0): expected text, got nothing',
        'results.0.links (id 0): expected a list, got 5',
        'results.4.name (id 4): expected text, got nothing',
        'and 6 more',
      ]),
    });
  });

  test('a record by its id beyond 2^53', async () => {
    const updating = fakeCall([ok(calculation({ id: 9007199254740993n, expression: null }))]);
    const listing = fakeCall([ok([card({ id: 9007199254740993n, title: 5 })])]);

    const updated = await caught(updating.platform.calculations.updateFormula(9007199254740993n, 'SUM(1)'));
    const listed = await caught(listing.platform.cards.ofDataset(uuid));

    expect(updated.message).toBe(
      'updateFormula (calculation 9007199254740993) failed: ' +
        'the response does not match the contract: expression: expected text, got null',
    );
    expect(listed.message).toContain('0.title (id 9007199254740993): expected text, got 5');
  });

  test('the fields of files, executions, sentiments and data files', async () => {
    const listing = fakeCall([ok(files(null, file({ id: 'f1', path: undefined })))]);
    const running = fakeCall([ok(execution({ status: undefined }))]);
    const scoring = fakeCall([ok(sentiment({ type: undefined }))]);
    const reading = fakeCall([ok(dataFile({ name: undefined }))]);

    const listed = await caught(listing.platform.files.pages(uuid).next());
    const ran = await caught(running.platform.functions.run(run));
    const scored = await caught(scoring.platform.sentiment.analyze({ text: 'fine' }));
    const read = await caught(reading.platform.dataFiles.get(12));

    expect(listed.message).toContain(`files of FileSet ${uuid}`);
    expect(listed.message).toContain('files.0.path (id f1): expected text, got nothing');
    expect(ran.message).toContain(`function score 1.0.0 of package ${uuid}`);
    expect(ran.message).toContain('status: expected text, got nothing');
    expect(scored.message).toContain('type: expected text, got nothing');
    expect(read.message).toContain('data file 12');
    expect(read.message).toContain('name: expected text, got nothing');
  });

  test.for([null, 'text', 5, [], {}])('a response that is %j as a whole', async (whole) => {
    const { platform } = fakeCall([ok(whole)]);

    const error = await caught(platform.calculations.updateFormula(17, 'SUM(1)'));

    expect(error.failure.kind).toBe('shape');
    expect(error.message).toContain('calculation 17');
  });

  test('but a raw call returns it as received', async () => {
    const { call } = fakeCall([ok({ odd: true })]);

    const response = await call.raw(searchCalculations, { body: { sort } });

    expect(response).toEqual({ text: '{"odd":true}', json: { odd: true } });
  });
});

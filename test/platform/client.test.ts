import { describe, expect, test } from 'vitest';
import { clientAt } from './client-at.ts';
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
import { json, startServer } from './scripted-server.ts';

const uuid = '0d5d6f3e-41c5-4f0c-9b3c-0c1d2e3f4a5b';

describe('in requests over HTTP,', () => {
  test('a formula is updated by POST, strictly if requested', async () => {
    await using server = await startServer(
      json(calculation({ id: '9007199254740993' })),
      json(calculation()),
    );
    const platform = clientAt(server.url);

    const plain = await platform.calculations.updateFormula('9007199254740993', 'SUM(`Ümsatz`)');
    await platform.calculations.updateFormula(17n, 'SUM(1)', { strict: true });

    expect(plain.id).toBe('9007199254740993');
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        target: '/api/query/v1/functions/template/9007199254740993',
        headers: {
          'x-service-developer-token': 'abc',
          'content-type': 'application/json',
          'content-length': '31',
          accept: 'application/json',
        },
        body: '{"expression":"SUM(`Ümsatz`)"}',
      },
      {
        target: '/api/query/v1/functions/template/17?strict=true',
        body: '{"expression":"SUM(1)"}',
      },
    ]);
  });

  test('calculations are searched page by page', async () => {
    await using server = await startServer(
      json({ ...calculations(calculationRow({ id: 1 }), calculationRow({ id: 2 })), hasMore: true }),
      json(calculations(calculationRow({ id: 3 }))),
    );
    const platform = clientAt(server.url);

    const pages = await Array.fromAsync(
      platform.calculations.pages({
        sort: { field: 'id', ascending: true },
        limit: 2,
        name: '',
        filters: [{ field: 'active', value: 'x' }],
      }),
    );

    expect(pages.map((page) => page.rows.map((row) => row.id))).toEqual([['1', '2'], ['3']]);
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        target: '/api/query/v1/functions/search',
        body: '{"filters":[{"field":"active","value":"x"}],"sort":{"field":"id","ascending":true},"limit":2,"name":"","offset":0}',
      },
      { body: expect.stringContaining('"offset":2') },
    ]);
  });

  test('files are searched with the query percent-encoded', async () => {
    await using server = await startServer(json(files('a+b=&c', file())), json(files(null, file())));
    const platform = clientAt(server.url);

    await Array.fromAsync(
      platform.files.pages(uuid, {
        directoryPath: 'q 1/ü&x=1',
        immediateChildren: true,
        limit: 1,
        fieldSort: [{ field: 'name', order: 'ASC' }],
      }),
    );

    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        target: `/api/files/v1/filesets/${uuid}/files/search?directoryPath=q+1%2F%C3%BC%26x%3D1&immediateChildren=true&limit=1`,
        body: '{"fieldSort":[{"field":"name","order":"ASC"}]}',
      },
      { target: expect.stringMatching(/&limit=1&next=a%2Bb%3D%26c$/) },
    ]);
  });

  test('cards are read with GET and without a body', async () => {
    await using server = await startServer(json([card()]));
    const platform = clientAt(server.url);

    const cards = await platform.cards.ofDataset('data/set', { drill: false });

    expect(cards).toHaveLength(1);
    expect(server.requests).toMatchObject([
      { method: 'GET', target: '/api/content/v1/datasources/data%2Fset/cards?drill=false', body: '' },
    ]);
    expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
  });

  test('a code function is run with its inputs, huge integers included, and a failed run is returned', async () => {
    await using server = await startServer(json(execution({ status: 'FAILED' })));
    const platform = clientAt(server.url);

    const { status } = await platform.functions.run({
      packageId: uuid,
      version: '1.0.0-beta 2',
      functionName: 'a/b',
      inputVariables: { id: 9007199254740993n },
      settings: { getLogs: true },
    });

    expect(status).toBe('FAILED');
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        target: `/api/codeengine/v2/packages/${uuid}/versions/1.0.0-beta%202/functions/a%2Fb`,
        body: '{"inputVariables":{"id":9007199254740993},"settings":{"getLogs":true}}',
      },
    ]);
  });

  test('a text is scored for each topic, or as a whole if there are no topics', async () => {
    await using server = await startServer(
      json(sentiment()),
      json({ type: 'DEFAULT', sentiment: 'positive', model: 'm', modelProviderUsage: null }),
    );
    const platform = clientAt(server.url);

    const targeted = await platform.sentiment.analyze({ text: 'dear', topics: [{ topic: 'price' }] });
    const simple = await platform.sentiment.analyze({ text: 'fine', topics: [] });

    expect(targeted.topicSentiments).toEqual({ price: 'NEGATIVE', service: 'NOT_APPLICABLE' });
    expect(simple.sentiment).toBe('positive');
    expect(server.requests).toMatchObject([
      {
        method: 'POST',
        target: '/api/ai/v1/targeted-sentiment',
        body: '{"input":[{"type":"TEXT","text":"dear"}],"topics":[{"topic":"price"}],"targetedSentiment":true}',
      },
      { body: '{"input":[{"type":"TEXT","text":"fine"}],"topics":[],"simpleSentiment":true}' },
    ]);
  });

  test('a data file is read with the properties to expand', async () => {
    await using server = await startServer(json(dataFile({ currentRevision: revision(), revisions: [] })));
    const platform = clientAt(server.url);

    const dataFileRead = await platform.dataFiles.get(12, { expand: ['revisions', 'metadata'] });
    await platform.dataFiles.get('12');

    expect(dataFileRead.currentRevision).toEqual(revision());
    expect(server.requests).toMatchObject([
      { method: 'GET', target: '/api/data/v1/data-files/12/details?expand=revisions%2Cmetadata' },
      { target: '/api/data/v1/data-files/12/details' },
    ]);
  });

  test('the header for the token has the configured name', async () => {
    await using server = await startServer(json(dataFile()));
    const platform = clientAt(server.url, { tokenHeader: 'X-Acme-Token' });

    await platform.dataFiles.get(12);

    expect(server.requests[0]?.headers).toMatchObject({ 'x-acme-token': 'abc' });
    expect(server.requests[0]?.headers).not.toHaveProperty('x-service-developer-token');
  });
});

test('each run of a code function and each update of a formula uses a fresh connection', async () => {
  await using server = await startServer(
    json(calculations()),
    json(execution()),
    json(execution()),
    json(calculation()),
    json(calculations()),
  );
  const platform = clientAt(server.url);

  await platform.calculations.search({ sort: { field: 'id', ascending: true } });
  await platform.functions.run({ packageId: uuid, version: '1', functionName: 'f' });
  await platform.functions.run({ packageId: uuid, version: '1', functionName: 'f' });
  await platform.calculations.updateFormula(17, 'SUM(1)');
  await platform.calculations.search({ sort: { field: 'id', ascending: true } });

  expect(server.requests.map((request) => request.connection)).toEqual([1, 2, 3, 4, 1]);
});

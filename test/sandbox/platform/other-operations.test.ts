import { describe, expect, test } from 'vitest';
import type { PlatformState } from '../../../lib/sandbox/platform/state.ts';
import { call, smallPlatform } from './call-platform.ts';
import { cardsListed } from './listed-cards.ts';

const platform = smallPlatform();
const { datasets, dataFiles, functions } = platform.ids();

describe('the cards of a dataset:', () => {
  const cardsOf = async (datasetId: string, query = '') =>
    (await call(platform, { path: `/api/content/v1/datasources/${datasetId}/cards${query}` }))
      .json as ReturnType<PlatformState['cards']['listed']>;

  test('every card of the dataset is in one array, without pages', async () => {
    const lists = await Promise.all(datasets.map((id) => cardsOf(id)));
    const all = new Set(
      datasets.flatMap((_, index) => cardsListed(platform.state, index).map(({ id }) => id)),
    );

    expect(all.size).toBe(150);
    for (const [index, cards] of lists.entries()) {
      expect(cards.every(({ datasourceId }) => datasourceId === datasets[index])).toBe(true);
    }
  });

  test('cards in a drill path are included unless drill is false', async () => {
    const all = (await Promise.all(datasets.map((id) => cardsOf(id, '?drill=true')))).flat();
    const roots = (await Promise.all(datasets.map((id) => cardsOf(id, '?drill=false')))).flat();

    const plain = all.map(({ drills: _, ...row }) => row);
    expect(roots).toEqual(plain.filter(({ urn }) => !urn.startsWith('dr:')));
    expect(roots.length).toBeLessThan(plain.length);
  });

  test('some cards contain their drills, which nest; a contained drill of the same dataset has no row', () => {
    const { cards } = smallPlatform({ cards: 1500 }).state;
    const lists = datasets.map((_, index) => cards.listed(index, true));
    const roots = lists.flat().filter(({ drills }) => drills !== undefined);
    const inside = lists.flatMap((rows) =>
      rows.flatMap(({ id, datasourceId, drills = [] }) =>
        drills.map((drill) => ({ root: id, rows: rows.map((row) => row.id), datasourceId, ...drill })),
      ),
    );

    expect(roots.length).toBeGreaterThan(5);
    for (const { root, rows, datasourceId, id, urn, title, datasetId } of inside) {
      expect([urn, title !== '', datasets.includes(datasetId)]).toEqual([`dr:${id}:${root}`, true, true]);
      expect(rows.includes(id) && datasetId === datasourceId).toBe(false);
    }
    expect(inside.some(({ drills }) => drills !== undefined)).toBe(true);
  });

  test('owners of cards are users and groups, and some cards are inaccessible', async () => {
    const all = (await Promise.all(datasets.map((id) => cardsOf(id)))).flat();

    expect(new Set(all.flatMap(({ owners }) => owners.map(({ type }) => type)))).toEqual(
      new Set(['USER', 'GROUP']),
    );
    expect(new Set(all.map(({ access }) => access))).toEqual(new Set([true, false]));
  });

  test('an unknown dataset gets 404', async () => {
    expect((await call(platform, { path: '/api/content/v1/datasources/nothing/cards' })).status).toBe(404);
  });
});

describe('data files:', () => {
  const pathOf = (query = '', id = dataFiles[0]) => `/api/data/v1/data-files/${id}/details${query}`;
  const keysOf = async (query: string) =>
    Object.keys((await call(platform, { path: pathOf(query) })).json as object).join();

  test('revisions are included only on request', async () => {
    expect(await keysOf('')).toBe('dataFileId,name,responsibleUserId,datetimeCreated,existing');
    expect(await keysOf('?expand=revisions')).toBe(
      'dataFileId,name,responsibleUserId,datetimeCreated,revisions,existing',
    );
    expect(await keysOf('?expand=metadata')).toBe(
      'dataFileId,name,responsibleUserId,currentRevision,datetimeCreated,existing',
    );
    expect(await keysOf('?expand=revisions,%20metadata')).toBe(
      'dataFileId,name,responsibleUserId,currentRevision,datetimeCreated,revisions,existing',
    );
  });

  test('the current revision is the last one, with hashes in upper case', async () => {
    const { json } = await call(platform, { path: pathOf('?expand=revisions,metadata') });
    const { revisions, currentRevision } = json as {
      revisions: Record<string, unknown>[];
      currentRevision: Record<string, unknown>;
    };

    expect(currentRevision).toEqual(revisions.at(-1));
    expect(currentRevision['md5Hash']).toMatch(/^[0-9A-F]{32}$/);
    expect(currentRevision['sha256HashValue']).toMatch(/^[0-9A-F]{64}$/);
  });

  test('an unknown id gets 404, and an id that is not an integer gets 400', async () => {
    expect((await call(platform, { path: pathOf('', '1') })).status).toBe(404);
    expect((await call(platform, { path: pathOf('', 'x') })).status).toBe(400);
  });
});

describe('code functions:', () => {
  const pathOf = (name: string, version?: string) => {
    const found = functions.find(({ functionName }) => functionName === name);
    return `/api/codeengine/v2/packages/${found?.packageId}/versions/${version ?? found?.version}/functions/${name}`;
  };

  test('a run returns the record of its execution', async () => {
    const fresh = smallPlatform();

    const { status, json } = await call(fresh, {
      path: pathOf('addNumbers'),
      body: { inputVariables: { first: 2, second: 3 } },
    });

    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'SUCCESS',
      result: 5,
      errorInformation: null,
      startedOn: '2026-11-21T00:00:00.000Z',
    });
    expect(fresh.counts().executions).toMatchObject([
      { functionName: 'addNumbers', inputVariables: { first: 2, second: 3 }, status: 'SUCCESS' },
    ]);
    expect(Object.values(fresh.counts().executionsByFunction)).toEqual([1]);
  });

  test('an unknown version or an invalid input gets a body that has only `message`', async () => {
    const unknown = await call(platform, { path: pathOf('addNumbers', '99.0.0'), body: {} });
    const invalid = await call(platform, {
      path: pathOf('addNumbers'),
      body: { inputVariables: { first: 'two' } },
    });

    expect([unknown.status, Object.keys(unknown.json as object)]).toEqual([404, ['message']]);
    expect([invalid.status, Object.keys(invalid.json as object)]).toEqual([400, ['message']]);
  });
});

describe('sentiment:', () => {
  const path = '/api/ai/v1/targeted-sentiment';
  const text = 'The price is terrible. Support was wonderful!';
  const input = [{ type: 'TEXT', text }];

  test('with topics the result is by topic', async () => {
    const { json } = await call(platform, {
      path,
      body: { input, topics: [{ topic: 'price' }, { topic: 'support' }, { topic: 'delivery' }] },
    });

    expect(json).toMatchObject({
      type: 'TARGETED',
      topicSentiments: { price: 'NEGATIVE', support: 'POSITIVE', delivery: 'NOT_APPLICABLE' },
    });
  });

  test.each([undefined, null, []])('with topics %j the result is for the whole text', async (topics) => {
    const { json } = await call(platform, { path, body: { input, topics } });

    expect(json).toMatchObject({ type: 'DEFAULT', sentiment: expect.any(String), isCustomerModel: false });
    expect(json).not.toHaveProperty('topicSentiments');
  });

  test('the response has the session and the custom model of the request, and no usage', async () => {
    const sessionId = '11111111-2222-4333-8444-555555555555';

    const { json } = await call(platform, { path, body: { input, sessionId, model: 'mine' } });

    expect(json).toMatchObject({ sessionId, model: 'mine', isCustomerModel: true, modelProviderUsage: null });
  });

  test('the sandbox counts paid calls for each text', async () => {
    const fresh = smallPlatform();

    await call(fresh, { path, body: { input } });
    await call(fresh, { path, body: { input } });
    await call(fresh, { path, body: { input: [{ type: 'IMAGE' }] } });

    expect(fresh.counts().sentimentCalls).toEqual({ [text]: 2 });
  });

  test.each([
    ['51 topics', { input, topics: Array.from({ length: 51 }, (_, index) => ({ topic: `t${index}` })) }],
    ['a topic that starts with a digit', { input, topics: [{ topic: '1price' }] }],
    ['a topic of 101 characters', { input, topics: [{ topic: 'a'.repeat(101) }] }],
    ['a topic with a hyphen', { input, topics: [{ topic: 'on-time' }] }],
    ['a description of 501 characters', { input, topics: [{ topic: 'a', description: 'x'.repeat(501) }] }],
    ['no messages', { input: [] }],
    ['no text', { input: [{ type: 'IMAGE' }] }],
    ['a session that is not a UUID', { input, sessionId: 'x' }],
  ])('a request with %s gets 400', async (_, body) => {
    expect((await call(platform, { path, body })).status).toBe(400);
  });
});

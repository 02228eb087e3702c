import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { endpoints } from '../../../lib/platform/operations/index.ts';
import { type Call, call, smallPlatform } from './call-platform.ts';
import { contractAnswers } from './contract-answers.ts';

const platform = smallPlatform();
const { fileSets, datasets, dataFiles, functions } = platform.ids();
const target = platform.state.calculations.at(3).id;
const big = platform.state.calculations.at(399).id;

function functionUrl(name: string) {
  const found = functions.find(({ functionName }) => functionName === name);
  return `/api/codeengine/v2/packages/${found?.packageId}/versions/${found?.version}/functions/${name}`;
}

const search = { filters: [], sort: { field: 'id', ascending: true }, limit: 5000 };
const input = [{ type: 'TEXT', text: 'The price is fine.' }];

type Name = keyof typeof endpoints;

const calls: readonly [Name, Call, number][] = [
  [
    'updateFormula',
    { path: `/api/query/v1/functions/template/${target}`, body: { expression: 'SUM(1)' } },
    200,
  ],
  [
    'updateFormula',
    { method: 'PUT', path: `/api/query/v1/functions/template/${big}`, body: { expression: 'SUM(' } },
    200,
  ],
  ['updateFormula', { path: '/api/query/v1/functions/template/4', body: { expression: '1' } }, 404],
  ['updateFormula', { path: `/api/query/v1/functions/template/${target}`, body: {} }, 400],
  ['searchCalculations', { path: endpoints.searchCalculations.path, body: search }, 200],
  ['searchCalculations', { path: endpoints.searchCalculations.path, body: { filters: [], limit: 1 } }, 200],
  ['searchCalculations', { path: endpoints.searchCalculations.path, body: {} }, 400],
  ['searchFiles', { path: `/api/files/v1/filesets/${fileSets[0]}/files/search?limit=1000`, body: {} }, 200],
  ['searchFiles', { path: `/api/files/v1/filesets/${big}/files/search`, body: {} }, 400],
  ['listCards', { path: `/api/content/v1/datasources/${datasets[0]}/cards` }, 200],
  ['listCards', { path: '/api/content/v1/datasources/x/cards' }, 404],
  [
    'runFunction',
    {
      path: functionUrl('addNumbers'),
      body: { inputVariables: { first: 1, second: 2 }, settings: { getLogs: true } },
    },
    200,
  ],
  ['runFunction', { path: functionUrl('throwsError'), body: {} }, 200],
  ['runFunction', { path: functionUrl('returnsWrongType'), body: {} }, 200],
  ['runFunction', { path: functionUrl('nothing'), body: {} }, 400],
  [
    'analyzeSentiment',
    { path: endpoints.analyzeSentiment.path, body: { input, topics: [{ topic: 'price' }] } },
    200,
  ],
  ['analyzeSentiment', { path: endpoints.analyzeSentiment.path, body: { input } }, 200],
  ['analyzeSentiment', { path: endpoints.analyzeSentiment.path, body: {} }, 400],
  ['getDataFile', { path: `/api/data/v1/data-files/${dataFiles[0]}/details?expand=revisions,metadata` }, 200],
  ['getDataFile', { path: `/api/data/v1/data-files/${dataFiles[0]}/details` }, 200],
  ['getDataFile', { path: '/api/data/v1/data-files/1/details' }, 404],
];

/** The shapes of errors: the usual one, that of code functions, and plain text if files or texts are forbidden. */
const usual = z.strictObject({
  status: z.int(),
  statusReason: z.string(),
  path: z.string(),
  message: z.string(),
  toe: z.string().check(z.regex(/^[0-9A-Z]{10}-[0-9A-Z]{5}-[0-9A-Z]{5}$/)),
});
const ofFunctions = z.strictObject({ message: z.string() });
const errorOf = (operation: Name, status: number) =>
  operation === 'runFunction' && status !== 401
    ? ofFunctions
    : ['searchFiles', 'analyzeSentiment'].includes(operation) && status === 403
      ? z.string()
      : usual;

describe('responses have the shapes that the client reads', () => {
  test.each(calls)('%s: %j responds with %i', async (operation, request, status) => {
    const response = await call(platform, request);

    expect(response.status).toBe(status);
    const shape = status === 200 ? contractAnswers[operation] : errorOf(operation, status);
    expect(z.safeParse(shape, response.json).error?.issues ?? []).toEqual([]);
  });

  test.each([
    [401, { token: 'x' }, { 'x-service-developer-token': 'stale' }],
    [403, { forbidden: Object.values(endpoints).map(({ name }) => name) }, {}],
    [413, { maxBodyBytes: 1 }, {}],
  ])('a response with status %i has the error shape of its operation', async (status, options, headers) => {
    const refusing = smallPlatform(options);
    const withBodies = calls.filter(([, { body }]) => body !== undefined);

    for (const [operation, request] of withBodies) {
      const response = await call(refusing, { ...request, headers });

      expect(response.status).toBe(status);
      expect(z.safeParse(errorOf(operation, status), response.json).error?.issues ?? []).toEqual([]);
    }
  });

  test('a throttled request gets a response with the error shape of its operation', async () => {
    for (const [operation, request] of calls) {
      const limited = smallPlatform({ rate: 1, monotonicNow: () => 0 });
      await call(limited, request);
      const { json } = await call(limited, request);

      expect(z.safeParse(errorOf(operation, 429), json).error?.issues ?? []).toEqual([]);
    }
  });
});

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../../lib/platform/endpoints.ts';
import { faultKinds } from '../../../lib/sandbox/platform/http/fault-kinds.ts';
import { type Call, call, smallPlatform } from './call-platform.ts';

type Schema = { readonly [name: string]: unknown };
type Media = { readonly schema: Schema };
type Response = { readonly description: string; readonly content: Readonly<Record<string, Media>> };
type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: Schema;
};
type Operation = {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
};
type OpenApi = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes: Readonly<Record<string, Schema>>;
  };
};

let document: OpenApi;
beforeAll(async () => {
  document = (await call(smallPlatform(), { path: '/openapi.json' })).json as OpenApi;
});

const platform = smallPlatform();
const { fileSets, datasets, dataFiles, functions } = platform.ids();
const target = platform.state.calculations.at(3).id;
const big = platform.state.calculations.at(399).id;
const template = '/api/query/v1/functions/template/{calculationId}';
const searchPath = '/api/query/v1/functions/search';
const filesPath = '/api/files/v1/filesets/{filesetId}/files/search';
const cardsPath = '/api/content/v1/datasources/{datasetId}/cards';
const functionPath = '/api/codeengine/v2/packages/{packageId}/versions/{version}/functions/{functionName}';
const sentimentPath = '/api/ai/v1/targeted-sentiment';
const dataFilePath = '/api/data/v1/data-files/{dataFileId}/details';
function functionUrl(name: string) {
  const found = functions.find(({ functionName }) => functionName === name);
  return `/api/codeengine/v2/packages/${found?.packageId}/versions/${found?.version}/functions/${name}`;
}
const search = { filters: [], sort: { field: 'id', ascending: true }, limit: 5000 };
const input = [{ type: 'TEXT', text: 'The price is fine.' }];

const calls: readonly [string, Call, number][] = [
  [template, { path: `/api/query/v1/functions/template/${target}`, body: { expression: 'SUM(1)' } }, 200],
  [
    template,
    { method: 'PUT', path: `/api/query/v1/functions/template/${big}`, body: { expression: 'SUM(' } },
    200,
  ],
  [template, { path: '/api/query/v1/functions/template/4', body: { expression: '1' } }, 404],
  [template, { path: `/api/query/v1/functions/template/${target}`, body: {} }, 400],
  [searchPath, { path: searchPath, body: search }, 200],
  [searchPath, { path: searchPath, body: { filters: [], limit: 1 } }, 200],
  [searchPath, { path: searchPath, body: {} }, 400],
  [filesPath, { path: `/api/files/v1/filesets/${fileSets[0]}/files/search?limit=1000`, body: {} }, 200],
  [filesPath, { path: `/api/files/v1/filesets/${big}/files/search`, body: {} }, 400],
  [cardsPath, { path: `/api/content/v1/datasources/${datasets[0]}/cards` }, 200],
  [cardsPath, { path: '/api/content/v1/datasources/x/cards' }, 404],
  [
    functionPath,
    {
      path: functionUrl('addNumbers'),
      body: { inputVariables: { first: 1, second: 2 }, settings: { getLogs: true } },
    },
    200,
  ],
  [functionPath, { path: functionUrl('throwsError'), body: {} }, 200],
  [functionPath, { path: functionUrl('returnsWrongType'), body: {} }, 200],
  [functionPath, { path: functionUrl('nothing'), body: {} }, 400],
  [sentimentPath, { path: sentimentPath, body: { input, topics: [{ topic: 'price' }] } }, 200],
  [sentimentPath, { path: sentimentPath, body: { input } }, 200],
  [sentimentPath, { path: sentimentPath, body: {} }, 400],
  [dataFilePath, { path: `/api/data/v1/data-files/${dataFiles[0]}/details?expand=revisions,metadata` }, 200],
  [dataFilePath, { path: `/api/data/v1/data-files/${dataFiles[0]}/details` }, 200],
  [dataFilePath, { path: '/api/data/v1/data-files/1/details' }, 404],
];

/** Where a response differs from what the document says about its operation and status; empty if it conforms. */
function faultsOf(path: string, method: string, status: number, json: unknown): readonly unknown[] {
  const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {};
  const schema = (responses[String(status)] ?? responses[`${Math.floor(status / 100)}XX`])?.content[
    'application/json'
  ]?.schema;
  if (schema === undefined) return [`no schema for ${method} ${path} ${status}`];
  const validate = validators.get(schema) ?? compiled(schema);
  return validate(json) ? [] : (validate.errors ?? []);
}

const validators = new Map<Schema, ValidateFunction>();

/** Cached: a compilation takes tens of milliseconds, and the same schemas are used again and again. */
function compiled(schema: Schema): ValidateFunction {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  const validate = ajv.compile({ ...schema, components: document.components });
  validators.set(schema, validate);
  return validate;
}

const plainNumbers = (text: string): unknown => JSON.parse(text);

describe('the responses conform to the document', () => {
  test.each(calls)('%s: %j responds with %i', async (path, request, status) => {
    const response = await call(platform, request);

    expect(response.status).toBe(status);
    expect(
      faultsOf(
        path,
        request.method ?? (request.body === undefined ? 'GET' : 'POST'),
        status,
        plainNumbers(response.text),
      ),
    ).toEqual([]);
  });

  test.each([
    ['401', { token: 'x' }, { 'x-service-developer-token': 'stale' }],
    ['403', { forbidden: Object.keys(endpoints) }, {}],
    ['413', { maxBodyBytes: 1 }, {}],
  ])('every %s has the shape of its operation', async (status, options, headers) => {
    const refusing = smallPlatform(options);
    const withBodies = calls.filter(([, { body }]) => body !== undefined);

    for (const [path, request] of withBodies) {
      const { status: received, text } = await call(refusing, { ...request, headers });

      expect(received).toBe(Number(status));
      expect(faultsOf(path, request.method ?? 'POST', Number(status), plainNumbers(text))).toEqual([]);
    }
  });

  test('429 and faults have shapes that the document describes', async () => {
    for (const [path, request] of calls) {
      const limited = smallPlatform({ rate: 1, monotonicNow: () => 0 });
      await call(limited, request);
      const refused = await call(limited, request);

      expect(
        faultsOf(
          path,
          request.method ?? (request.body === undefined ? 'GET' : 'POST'),
          429,
          plainNumbers(refused.text),
        ),
      ).toEqual([]);
    }
    for (const kind of faultKinds.filter((each) => /^error-(platform|message|text|after)$/.test(each))) {
      const response = await call(smallPlatform({ plannedFaults: { 1: kind } }), {
        path: searchPath,
        body: search,
      });

      expect(faultsOf(searchPath, 'POST', response.status, plainNumbers(response.text))).toEqual([]);
    }
  });

  test('a response that lacks a field does not conform', async () => {
    const { json } = await call(platform, {
      path: `/api/query/v1/functions/template/${target}`,
      body: { expression: '1' },
    });
    const { checkSum: _, ...rest } = json as Record<string, unknown>;

    expect(faultsOf(template, 'POST', 200, rest)).not.toEqual([]);
    expect(faultsOf(template, 'POST', 200, { ...rest, checkSum: 5 })).not.toEqual([]);
  });
});

describe('the document', () => {
  const operations = () =>
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
    );

  test('is OpenAPI 3.1 with a title, a version and the token', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) });
    expect(document.components.securitySchemes).toEqual({
      developerToken: { type: 'apiKey', in: 'header', name: 'X-SERVICE-Developer-Token' },
    });
    expect(document.security).toEqual([{ developerToken: [] }]);
  });

  test('has every endpoint of the client under its path and method, with unique ids', () => {
    for (const { path, method, name } of Object.values(endpoints)) {
      expect(document.paths[path]?.[method.toLowerCase()]?.operationId).toBe(name);
    }
    const ids = operations().map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    // A formula is updated by PUT too.
    expect(ids).toHaveLength(Object.keys(endpoints).length + 1);
  });

  test('declares exactly the parameters of each path, all required', () => {
    for (const { path, operation } of operations()) {
      const named = operation.parameters.filter((parameter) => parameter.in === 'path');

      expect(named.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
      expect(named.every(({ required }) => required)).toBe(true);
      expect(
        new Set(operation.parameters.map((parameter) => parameter.in)).difference(new Set(['path', 'query']))
          .size,
      ).toBe(0);
    }
  });

  test('every reference resolves and every schema is valid', () => {
    const text = JSON.stringify(document);
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name ?? '',
    );

    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((name) => document.components.schemas[name] === undefined)).toEqual([]);
    expect(text).not.toContain('"$ref":"#/$defs');
    expect(text).not.toContain('"$schema"');
    for (const { operation } of operations()) {
      for (const { schema } of operation.parameters)
        expect(new Ajv2020({ strict: false, logger: false }).validateSchema(schema)).toBe(true);
      expect(
        new Ajv2020({ strict: false, logger: false }).validateSchema(
          operation.requestBody?.content['application/json']?.schema ?? {},
        ),
      ).toBe(true);
    }
  });

  test('shows ids as integers, and the bounds of the contract', () => {
    const parameter = (path: string, method: string, name: string) =>
      document.paths[path]?.[method]?.parameters.find((each) => each.name === name)?.schema;

    expect(parameter(template, 'post', 'calculationId')).toMatchObject({ type: 'integer', format: 'int64' });
    expect(parameter(filesPath, 'post', 'limit')).toMatchObject({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
    });
    expect(
      document.paths[searchPath]?.['post']?.requestBody?.content['application/json']?.schema,
    ).toMatchObject({
      required: expect.arrayContaining(['filters', 'sort', 'limit']),
      properties: { limit: { type: 'integer', minimum: 1, maximum: 5000 } },
    });
  });
});

import type { Operation } from '../operations/operation.ts';
import { errorResponses, errorSchemas } from './error-responses.ts';
import { type JsonSchema, jsonSchemaOf, memberSchema, membersOf, requiredOf } from './json-schema.ts';

/** The OpenAPI 3.1 document of the contract, generated from the endpoints' own schemas. */
export function createOpenApi(operations: readonly Operation[], tokenHeader: string): JsonSchema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Analytics Platform Developer API',
      version: '1',
      description:
        'Calculations, files, cards, code functions, sentiment and data files, as the sandbox serves them.',
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    security: [{ developerToken: [] }],
    paths: Object.fromEntries(operations.map((operation) => [operation.endpoint.path, pathItem(operation)])),
    components: {
      securitySchemes: { developerToken: { type: 'apiKey', in: 'header', name: tokenHeader } },
      schemas: errorSchemas,
    },
  };
}

function pathItem(operation: Operation): JsonSchema {
  const described = describe(operation);
  return Object.fromEntries(
    operation.methods.map((method) => [
      method.toLowerCase(),
      // An operationId must be unique.
      {
        operationId: operation.endpoint.name + (method === operation.endpoint.method ? '' : `By${method}`),
        ...described,
      },
    ]),
  );
}

function describe(operation: Operation): JsonSchema {
  const { endpoint, errors } = operation;
  const input = jsonSchemaOf(endpoint.input);
  const body = memberSchema(input, 'body');
  return {
    summary: endpoint.summary,
    parameters: [
      ...parameters(operation, 'path', memberSchema(input, 'path')),
      ...parameters(operation, 'query', memberSchema(input, 'query')),
    ],
    ...(body === undefined ? {} : { requestBody: requestBody(operation, body) }),
    responses: {
      200: {
        description: 'Done',
        content: { 'application/json': { schema: jsonSchemaOf(endpoint.output) } },
      },
      ...errorResponses(errors),
    },
  };
}

function parameters(
  { limits }: Operation,
  place: 'path' | 'query',
  schema: JsonSchema | undefined,
): readonly JsonSchema[] {
  return membersOf(schema).map(([name, member]) => ({
    name,
    in: place,
    required: place === 'path' || requiredOf(schema).includes(name),
    schema: { ...member, ...limits[name] },
  }));
}

function requestBody({ limits, requiredInBody }: Operation, schema: JsonSchema): JsonSchema {
  const required = [...new Set([...requiredOf(schema), ...requiredInBody])];
  const properties = Object.fromEntries(
    membersOf(schema).map(([name, member]) => {
      // A required member has no default, whatever the client would fill in.
      const { default: _, ...plain } = member;
      const shown = required.includes(name) ? plain : member;
      return [name, { ...shown, ...limits[name] }];
    }),
  );
  const shown = { ...schema, properties, ...(required.length === 0 ? {} : { required }) };
  return { required: true, content: { 'application/json': { schema: shown } } };
}

import type { ErrorShape, ErrorShapes } from '../http/error-shapes.ts';
import type { JsonSchema } from './json-schema.ts';

/** The schemas of the shapes that errors have. */
export const errorSchemas = {
  PlatformError: {
    type: 'object',
    description: 'The usual error. `toe` is the platform’s reference to it.',
    properties: {
      status: { type: 'integer' },
      statusReason: { type: 'string' },
      path: { type: 'string' },
      message: { type: 'string' },
      toe: { type: 'string', pattern: '^[0-9A-Z]{10}-[0-9A-Z]{5}-[0-9A-Z]{5}$' },
    },
    required: ['status', 'statusReason', 'message', 'toe'],
    additionalProperties: false,
  },
  MessageError: {
    type: 'object',
    description: 'An error of code functions.',
    properties: { message: { type: 'string' } },
    required: ['message'],
    additionalProperties: false,
  },
  TextError: { type: 'string', description: 'A bare JSON string.' },
} as const satisfies Readonly<Record<ErrorShape, JsonSchema>>;

/** The error responses of an operation by status, each in the shape that the operation uses. */
export function errorResponses({ usual, forbidden }: ErrorShapes): JsonSchema {
  return {
    400: response('The request is invalid', [usual]),
    401: response('The developer token is missing, unknown or revoked', ['PlatformError']),
    403: response('The token does not permit this', [forbidden]),
    404: response('There is no such record', [usual]),
    405: response('The method is not allowed here', [usual]),
    413: response('The body is too large', [usual]),
    429: {
      ...response('Too many requests', [usual]),
      headers: {
        'Retry-After': { description: 'Seconds or an HTTP date; may be absent', schema: { type: 'string' } },
      },
    },
    '5XX': {
      ...response(
        'The platform failed, with any of these shapes',
        ['PlatformError', 'MessageError', 'TextError'],
        {
          'text/html': { schema: { type: 'string' } },
        },
      ),
    },
  };
}

function response(description: string, shapes: readonly ErrorShape[], others: JsonSchema = {}): JsonSchema {
  const references = shapes.map((shape) => ({ $ref: `#/components/schemas/${shape}` }));
  const schema = references.length === 1 ? references[0] : { anyOf: references };
  return { description, content: { 'application/json': { schema }, ...others } };
}

import * as z from 'zod/mini';
import { idSchema } from '../../../platform/index.ts';

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 uses it. */
export type JsonSchema = { readonly [name: string]: unknown };

/** The JSON Schema of a schema's input. An id is shown as an integer, as it is on the wire. */
export function jsonSchemaOf(schema: z.ZodMiniType): JsonSchema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if ((zodSchema as unknown) === idSchema) Object.assign(jsonSchema, ID);
    },
  });
  return converted as JsonSchema;
}

/** The schema of a member, also of an optional object. Undefined if there is none. */
export function memberSchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  const { properties } = schema;
  const member: unknown =
    typeof properties === 'object' && properties !== null ? Reflect.get(properties, name) : undefined;
  return typeof member === 'object' && member !== null ? (member as JsonSchema) : undefined;
}

/** The members of an object schema, by name. */
export function membersOf(schema: JsonSchema | undefined): readonly (readonly [string, JsonSchema])[] {
  const { properties } = schema ?? {};
  return typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
}

/** The names that an object schema requires. */
export function requiredOf(schema: JsonSchema | undefined): readonly string[] {
  return Array.isArray(schema?.['required']) ? schema['required'] : [];
}

const ID = {
  type: 'integer',
  format: 'int64',
  description: 'All digits are significant: it may exceed 2^53.',
};

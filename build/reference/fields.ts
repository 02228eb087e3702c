import * as z from 'zod/mini';
import { idSchema } from '../../lib/platform/index.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A field of an object, in words. */
export type Field = {
  /** The name, such as `owner.id`, or `rows[].id` for a field of the items of a list. */
  readonly name: string;
  readonly type: string;
  /** Whether the field must be present. */
  readonly isRequired: boolean;
};

/** The fields of a schema. The fields of an inner object follow the object. */
export function fieldsOf(schema: z.ZodMiniType): readonly Field[] {
  const converted = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if ((zodSchema as unknown) === idSchema) Object.assign(jsonSchema, { type: 'id' });
      // Records whose names are kept as received are checked by a function, which has no JSON schema.
      else if (zodSchema._zod.def.type === 'custom') Object.assign(jsonSchema, { type: 'object' });
    },
  });
  return inside(converted as Schema, '');
}

function inside(schema: Schema, prefix: string): readonly Field[] {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>).flatMap(
    ([name, member]) => {
      const { plain, isList } = unwrapped(member);
      const at = `${prefix}${name}${isList ? '[]' : ''}`;
      return [
        { name: `${prefix}${name}`, type: typeOf(member), isRequired: required.has(name) },
        ...inside(plain, `${at}.`),
      ];
    },
  );
}

/** The schema of a member that is not null. For a list, the schema of its items. */
function unwrapped(member: Schema): { readonly plain: Schema; readonly isList: boolean } {
  const plain = alternatives(member).find(({ type }) => type !== 'null') ?? member;
  const items = plain['items'] as Schema | undefined;
  return items === undefined ? { plain, isList: false } : { plain: unwrapped(items).plain, isList: true };
}

const alternatives = (schema: Schema): readonly Schema[] =>
  Array.isArray(schema['anyOf']) ? schema['anyOf'].flatMap(alternatives) : [schema];

const WORDS: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'true or false',
  integer: 'whole number',
  id: 'id',
  number: 'number',
  object: 'object',
  null: 'null',
};

/** Describes in words what a value may be, with its range and its default. */
export function typeOf(schema: Schema): string {
  const words = alternatives(schema).flatMap((each) => {
    const items = each['items'] as Schema | undefined;
    if (each['type'] === 'array') return [`list of ${typeOf(items ?? {})}`];
    return [each['type']].flat().map((type) => WORDS[String(type)] ?? 'any');
  });
  const { minimum: min, maximum: max } = schema;
  const range = typeof min === 'number' && typeof max === 'number' && max < Number.MAX_SAFE_INTEGER;
  const fallback = schema['default'] === undefined ? '' : `, by default ${JSON.stringify(schema['default'])}`;
  return `${[...new Set(words)].join(' or ')}${range ? ` from ${min} to ${max}` : ''}${fallback}`;
}

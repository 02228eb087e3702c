import * as z from 'zod/mini';

/* Objects with names from outside: zod's own `record` drops a member named `__proto__` without a word. */

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const anyRecord = (error = 'an object') => z.custom<Record<string, unknown>>(isObject, { error });

/** An object whose members all fit a schema, which may not transform them. */
export const recordOf = <Value>(member: z.ZodMiniType<Value, Value>, error = 'an object') =>
  z.custom<Record<string, Value>>(
    (value) => isObject(value) && Object.values(value).every((each) => member.safeParse(each).success),
    { error },
  );

/** For names that came from outside: every object also has `constructor`, `toString` and `__proto__`. */
export const own = <Value>(
  object: Readonly<Partial<Record<string, Value>>>,
  name: string,
): Value | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);

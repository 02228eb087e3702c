import * as z from 'zod/mini';

/* Schemas for callers' input. A message says what was expected; `faultsOf` adds what was found. */

/** A UUID in hex digits. */
export const uuid = z
  .string({ error: 'a UUID' })
  .check(
    z.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, { error: 'a UUID (8-4-4-4-12 hex digits)' }),
  );

/** A string without lone surrogates, which can be neither part of a URL nor stored as UTF-8. */
export const wellFormed = z.refine((text) => String(text).isWellFormed(), { error: 'well-formed Unicode' });

/** A well-formed string with at least one character that is not white space. */
export const filledText = z
  .string({ error: 'text' })
  .check(z.regex(/\S/, { error: 'text that is not empty' }), wellFormed);

/** A whole number within these bounds. */
export function wholeNumber(min: number, max: number) {
  const error = `a whole number from ${min} to ${max}`;
  return z
    .number({ error })
    .check(z.refine((value) => Number.isInteger(value) && value >= min && value <= max, { error }));
}

/** Schema of a boolean. */
export const yesOrNo = z.boolean({ error: 'true or false' });

/**
 * Matches a date or time in ISO 8601. A time needs a zone: without one, it would mean different moments on
 * machines.
 */
const DATE = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** Whether the date exists: `Date.parse` would read February 30 as a day of March. */
function isDate(text: string): boolean {
  const day = DATE.exec(text)?.[1];
  if (day === undefined || Number.isNaN(Date.parse(text)) || Number.isNaN(Date.parse(day))) return false;
  return new Date(day).toISOString().startsWith(day);
}

/** A date (meaning its start in UTC), or a date and time with a zone. The output is ISO 8601 in UTC. */
export const utcTime = z.pipe(
  z
    .string({ error: 'a date' })
    .check(z.refine(isDate, { error: 'a date such as 2026-11-21 or 2026-11-21T09:15:00Z' })),
  z.transform((text: string) => new Date(text).toISOString()),
);

const PAST = 'a day that has begun, such as 2026-11-21, or a time such as 2026-11-21T09:15:00Z';

/** A day or a time in the past, as epoch milliseconds. A day means its last millisecond in UTC; today means now. */
export const pastMoment = z.pipe(
  z
    .string({ error: PAST })
    .check(z.refine((text) => isDate(text) && Date.parse(text) <= Date.now(), { error: PAST })),
  z.transform((text: string) => {
    const start = Date.parse(text);
    return text.length === DAY_LENGTH ? Math.min(start + DAY_MS - 1, Date.now()) : start;
  }),
);

const DAY_LENGTH = '2026-11-21'.length;
const DAY_MS = 86_400_000;

/** A rule for a list as a whole, reported together with the faults of its entries. */
export const whole = (error: string, holds: (list: readonly unknown[]) => boolean) =>
  z.refine((list) => holds(list as readonly unknown[]), {
    error,
    when: ({ value }) => Array.isArray(value),
  });

/** The schema of a list of 1 to `max` entries without duplicates. */
export const each = <T extends z.core.SomeType>(
  schema: T,
  { error, max }: { readonly error: string; readonly max: number },
): z.ZodMiniArray<T> =>
  z.array(schema, { error }).check(
    whole(`a list of 1 to ${max}`, ({ length }) => length >= 1 && length <= max),
    whole('a list without duplicates', (list) => new Set(list).size === list.length),
  );

/*
 * Schemas of objects with names from outside. They do not use zod's `record`, which silently drops a member named
 * `__proto__`.
 */

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object with any members. */
export const anyRecord = (error = 'an object') => z.custom<Record<string, unknown>>(isObject, { error });

/** An object whose members all match a schema, which must not transform them. */
export const recordOf = <Value>(member: z.ZodMiniType<Value, Value>, error = 'an object') =>
  z.custom<Record<string, Value>>(
    (value) => isObject(value) && Object.values(value).every((each) => member.safeParse(each).success),
    { error },
  );

/**
 * The object's own member with this name, for names from outside: plain access would find `constructor`, `toString` and
 * `__proto__` in every object.
 */
export const own = <Value>(
  object: Readonly<Partial<Record<string, Value>>>,
  name: string,
): Value | undefined => (Object.hasOwn(object, name) ? object[name] : undefined);

/**
 * Checks a value against a schema. For a large value, reports only the first fault: zod passes all faults as
 * arguments of one call, and the faults of a hostile list would take gigabytes, or overflow the stack.
 */
export function checkedBy<T>(
  schema: Pick<z.ZodMiniType<T>, 'safeParse'>,
  value: unknown,
): z.core.util.SafeParseResult<T> {
  const checked = schema.safeParse(value, FIRST_FAULT);
  return checked.success || isLarge(value) ? checked : schema.safeParse(value);
}

const FIRST_FAULT: z.core.ParseContextInternal<z.core.$ZodIssue> = { abortEarly: true };

/** A value with more values in it than this is large. */
const MAX_VALUES = 50_000;
/** How many values an object counts as, since each required member that it lacks is a fault. */
const OBJECT_VALUES = 10;

function isLarge(value: unknown): boolean {
  let left = MAX_VALUES;
  const open = [value];
  while (open.length > 0 && left > 0) {
    const each = open.pop();
    const isObject = typeof each === 'object' && each !== null;
    left -= isObject ? OBJECT_VALUES : 1;
    if (!isObject) continue;
    for (const name in each) {
      open.push(Reflect.get(each, name));
      if (open.length > left) return true;
    }
  }
  return left <= 0;
}

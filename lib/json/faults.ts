import type * as z from 'zod/mini';

/**
 * Every fault that a schema found, one text each: where it is, what was expected, and what was found. `place` describes
 * the path; `shown` is the value that was checked; `hide` removes from keys and values what must not be shown.
 */
export function faultsOf(
  error: z.core.$ZodError,
  shown: unknown,
  { place = (path) => path.join('.'), hide = (text) => text }: FaultOptions = {},
): readonly string[] {
  return error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => `${hide(place([...issue.path, key]))}: not a known name`);
    }
    const got = preview(valueAt(shown, issue.path), hide);
    return [`${hide(place(issue.path))}: expected ${expectationOf(issue)}, got ${got}`];
  });
}

/** Removes from a text what must not be shown. Used before a text is shortened, which could leave half a token. */
export type Hide = (text: string) => string;

export type FaultOptions = {
  readonly place?: (path: readonly PropertyKey[]) => string;
  readonly hide?: Hide;
};

/** A value in a few words: texts quoted and shortened, lists by their size. */
export function preview(value: unknown, hide: Hide = (text) => text): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(hide(value)) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** A message that the schema does not give itself. Zod adds to it in a program that also loads one of its languages. */
const DEFAULT_MESSAGE = /^Invalid input(?::|$)/;

function expectationOf(issue: z.core.$ZodIssue): string {
  if (!DEFAULT_MESSAGE.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return EXPECTED[issue.expected] ?? issue.expected;
    case 'invalid_union':
      return [...new Set(issue.errors.flat().map(expectationOf))].join(' or ') || 'another type';
    default:
      return issue.code;
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  );
}

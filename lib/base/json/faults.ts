import type * as z from 'zod/mini';

/**
 * The faults that a schema found, one text each: where it is, what was expected, and what was found. Of more than
 * `most`, the last text says how many others there are. `place` describes the path; `shown` is the value that was checked;
 * `hide` removes from keys and values what must not be shown.
 */
export function faultsOf(
  error: z.core.$ZodError,
  shown: unknown,
  {
    place = (path) => path.join('.'),
    hide = (text) => text,
    most = MOST_FAULTS,
    ...options
  }: FaultOptions = {},
): readonly string[] {
  const show = options.show ?? ((value) => preview(value, hide));
  const named = (path: readonly PropertyKey[]) =>
    shortened(hide(place(path).slice(0, MOST_READ)), LONGEST_PLACE);
  const faults: string[] = [];
  let others = 0;
  for (const issue of widestFirst(error.issues, most)) {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined];
    const room = keys.slice(0, most - faults.length);
    others += keys.length - room.length;
    for (const key of room) {
      const got = () => show(valueAt(shown, issue.path));
      faults.push(
        key === undefined
          ? `${named(issue.path)}: expected ${expectationOf(issue)}, got ${got()}`
          : `${named([...issue.path, key])}: not a known name`,
      );
    }
  }
  return others === 0 ? faults : [...faults, `and ${others} more`];
}

/** If not all can be listed, those about a whole go before those about its parts. */
const widestFirst = (issues: readonly z.core.$ZodIssue[], most: number) =>
  issues.length <= most ? issues : issues.toSorted((a, b) => a.path.length - b.path.length);

/** A message with all faults of a hostile input would be as long as the input. */
const MOST_FAULTS = 50;
const LONGEST_PLACE = 300;
/** So much of a text is looked through for what must not be shown. */
export const MOST_READ = 4_000;

/** A text of at most so many characters, and a mark if some are left out. */
export const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;

/** At most 4,000 characters: it may quote what came from elsewhere, and goes into logs, results and rows. */
export const messageOf = (text: string): string => shortened(text, LONGEST_MESSAGE);

const LONGEST_MESSAGE = 4_000;

/** The first line of a text: the SDK adds further lines for developers to its errors. */
export const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** Names in quotes, for a message: the first 20, each shortened, and how many others there are. */
export function listed(names: readonly string[]): string {
  const first = names.slice(0, MOST_NAMES).map((name) => JSON.stringify(shortened(name, LONGEST_NAME)));
  const others = names.length - first.length;
  return others > 0 ? `${first.join(', ')} and ${others} more` : first.join(', ');
}

const MOST_NAMES = 20;
const LONGEST_NAME = 60;

/** Removes from a text what must not be shown: of at most `MOST_READ` characters, since it takes time. */
export type Hide = (text: string) => string;

export type FaultOptions = {
  readonly place?: (path: readonly PropertyKey[]) => string;
  readonly hide?: Hide;
  readonly show?: (value: unknown) => string;
  readonly most?: number;
};

/** A value in a few words: texts quoted and shortened, lists by their size. */
export function preview(value: unknown, hide: Hide = (text) => text): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  const text = typeof value === 'string' ? JSON.stringify(hide(value.slice(0, MOST_READ))) : String(value);
  return shortened(text, 60);
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

import { inRange } from './ip-address.ts';
import { numericTest } from './numbers.ts';
import type { EventValue, Test } from './pattern.ts';
import { ignoringCase, matchesPieces, piecesOf } from './text-tests.ts';

/** The result of reading `{"exists": false}`, which tests no value but matches an event without the field. */
export const ABSENT = Symbol('the field is absent');

/** One match type of a pattern: how its value is read, and the expected form of that value. */
type MatchType = {
  readonly expected: string;
  /** Undefined if the value is not what is expected. */
  readonly read: (value: unknown) => Test | typeof ABSENT | undefined;
};

const IGNORE_CASE = 'equals-ignore-case';

/** The match types of EventBridge. `exactly` is not documented, but AWS's matcher has it. */
export const matchTypes = {
  exactly: { expected: 'text', read: (value) => ofText(value, (wanted) => (text) => text === wanted) },
  prefix: {
    expected: `text, or {"${IGNORE_CASE}": text}`,
    read: (value) =>
      ofText(value, (wanted) => (text) => text.startsWith(wanted)) ??
      ofText(only(value, IGNORE_CASE), (wanted) => ignoringCase(wanted, 'start')),
  },
  suffix: {
    expected: `text, or {"${IGNORE_CASE}": text}`,
    read: (value) =>
      ofText(value, (wanted) => (text) => text.endsWith(wanted)) ??
      ofText(only(value, IGNORE_CASE), (wanted) => ignoringCase(wanted, 'end')),
  },
  [IGNORE_CASE]: {
    expected: 'text',
    read: (value) => ofText(value, (wanted) => ignoringCase(wanted, 'whole')),
  },
  wildcard: {
    expected: 'text in which no two * follow each other, and \\ stands only before * or \\',
    read: (value) => ofText(value, matchesWildcard),
  },
  'anything-but': {
    expected: `texts or numbers, not both, or one of {"prefix": …}, {"suffix": …}, {"${IGNORE_CASE}": …}, {"wildcard": …} with texts`,
    read: anythingBut,
  },
  numeric: {
    expected:
      '["=", number], one bound such as [">", 0], or a lower and a higher one, such as [">", 0, "<=", 5]',
    read(value) {
      const holds = numericTest(value);
      return holds && ((each) => typeof each === 'number' && holds(each));
    },
  },
  cidr: {
    expected: 'ADDRESS/BITS with at most 31 bits for IPv4 and 127 for IPv6, such as "10.0.0.0/24"',
    read: (value) => ofText(value, inRange),
  },
  exists: {
    expected: 'true or false',
    read(value) {
      if (typeof value !== 'boolean') return undefined;
      return value ? () => true : ABSENT;
    },
  },
} as const satisfies Readonly<Record<string, MatchType>>;

type TextTest = (text: string) => boolean;

/** Creates a test from a wanted text; undefined if the value is not a text, or no test can be created from it. */
function ofText(value: unknown, make: (wanted: string) => TextTest | undefined): Test | undefined {
  const test = typeof value === 'string' ? make(value) : undefined;
  return test && ((each) => typeof each === 'string' && test(each));
}

/** The value of `key` if it is the object's only key. */
function only(value: unknown, key: string): unknown {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return entries.length === 1 && entries[0]?.[0] === key ? entries[0][1] : undefined;
}

function matchesWildcard(wanted: string): TextTest | undefined {
  const pieces = piecesOf(wanted);
  return pieces && ((text) => matchesPieces(text, pieces));
}

/** What `anything-but` can exclude besides values. AWS rejects an empty prefix or suffix, which would exclude all strings. */
const exclusions = {
  prefix: (wanted) => (wanted === '' ? undefined : (text) => text.startsWith(wanted)),
  suffix: (wanted) => (wanted === '' ? undefined : (text) => text.endsWith(wanted)),
  [IGNORE_CASE]: (wanted) => ignoringCase(wanted, 'whole'),
  wildcard: matchesWildcard,
} as const satisfies Readonly<Record<string, (wanted: string) => TextTest | undefined>>;

/** Creates a test for any value that is not listed. Values of other types match too. */
function anythingBut(value: unknown): Test | undefined {
  const excluded =
    valuesTest(value) ??
    Object.entries(exclusions)
      .map(([kind, make]) => listTest(only(value, kind), make))
      .find((test) => test !== undefined);
  return excluded && ((each) => !excluded(each));
}

function valuesTest(value: unknown): Test | undefined {
  const values: readonly unknown[] = [value].flat();
  // A JSON number such as 1e400 is read as infinite, and would be deployed as null.
  if (values.some((each) => typeof each === 'number' && !Number.isFinite(each))) return undefined;
  const types = new Set(values.map((each) => typeof each));
  if (types.size !== 1 || !(types.has('string') || types.has('number'))) return undefined;
  return (each) => values.includes(each);
}

function listTest(value: unknown, make: (wanted: string) => TextTest | undefined): Test | undefined {
  const tests = [value].flat().map((each) => ofText(each, make));
  const valid = tests.filter((test) => test !== undefined);
  if (valid.length === 0 || valid.length < tests.length) return undefined;
  return (each: EventValue) => valid.some((test) => test(each));
}

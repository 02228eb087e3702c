import { sameAddress } from './ip-address.ts';
import { ABSENT, matchTypes } from './match-types.ts';
import type { EventPattern, FieldPattern, Given, PatternFault, Report, Test } from './pattern.ts';

export type ParsedPattern =
  | { readonly kind: 'pattern'; readonly pattern: EventPattern }
  | { readonly kind: 'faults'; readonly faults: readonly PatternFault[] };

/**
 * Reads an event pattern, given as a JSON value, as EventBridge does. Reports all faults together. Sources: "Event
 * patterns" and "Comparison operators" in EventBridge's user guide, and AWS's own matcher, Event Ruler.
 */
export function parsePattern(value: unknown): ParsedPattern {
  const faults: PatternFault[] = [];
  const report = (fault: PatternFault) => void faults.push(fault);
  const alternatives = readFields([new Map()], { value, path: [], names: [], withinOr: false }, report);
  if (faults.length > 0) return { kind: 'faults', faults };
  return {
    kind: 'pattern',
    pattern: { alternatives: alternatives.map((fields) => [...fields.values()].sort(byPath)) },
  };
}

/** The fields of an alternative, in the order of the code units of their names: AWS tries them in this order. */
const byPath = (a: FieldPattern, b: FieldPattern) => (a.path < b.path ? -1 : 1);

/** The fields of one alternative, by path. */
type Alternative = ReadonlyMap<string, FieldPattern>;

type Fields = Given & {
  /** Names of fields from the root of the event, without `$or` and positions in it. */
  readonly names: readonly string[];
  readonly withinOr: boolean;
};

const OR = '$or';

/** Adds the fields of an object to each alternative so far. `$or` splits each alternative into several. */
function readFields(before: readonly Alternative[], given: Fields, report: Report): readonly Alternative[] {
  const { value, path, names } = given;
  if (!isObject(value) || Object.keys(value).length === 0) {
    report({
      path,
      expected: 'an object of fields, each with a list of matching values or a further object',
      got: value,
    });
    return before;
  }
  return Object.entries(value).reduce((alternatives, [name, each]) => {
    const next = { ...given, value: each, path: [...path, name] };
    if (name === OR) return readOr(alternatives, next, report);
    checkName(name, next, report);
    const inner = { ...next, names: [...names, name] };
    if (Array.isArray(each)) return withField(alternatives, readValues(each, inner, report), inner, report);
    return readFields(alternatives, inner, report);
  }, before);
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names that AWS's matcher forbids for fields within `$or`: match types, operators, and some reserved names. */
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.keys(matchTypes),
  ...[
    '=',
    '<',
    '<=',
    '>',
    '>=',
    'regex',
    'not-wildcard',
    'not-equals-ignore-case',
    'date-after',
    'date-before',
  ],
  ...[
    'date-on-or-after',
    'date-on-or-before',
    'in-date-range',
    'ip-address-in-range',
    'ip-address-not-in-range',
  ],
]);

function checkName(name: string, { value, path, withinOr }: Fields, report: Report): void {
  if (name === '') report({ path, expected: 'a field with a name', got: value });
  if (withinOr && RESERVED.has(name))
    report({ path, expected: `within $or, a field that is not called ${name}`, got: value });
}

/** Maximum number of combinations of `$or` branches in a rule. EventBridge rejects more. */
const MAX_COMBINATIONS = 1_000;

function readOr(before: readonly Alternative[], given: Fields, report: Report): readonly Alternative[] {
  const { value, path } = given;
  if (!Array.isArray(value) || value.length < 2) {
    report({ path, expected: 'a list of at least two objects', got: value });
    return before;
  }
  if (before.length * value.length > MAX_COMBINATIONS) {
    report({
      path,
      expected: `at most ${MAX_COMBINATIONS} combinations of the branches of $or`,
      got: value,
    });
    return before;
  }
  return value.flatMap((branch: unknown, index) =>
    readFields(before, { ...given, value: branch, path: [...path, index], withinOr: true }, report),
  );
}

function withField(
  before: readonly Alternative[],
  values: Omit<FieldPattern, 'path'>,
  { value, path, names }: Fields,
  report: Report,
): readonly Alternative[] {
  const name = names.join('.');
  if (before.some((fields) => fields.has(name)))
    report({ path, expected: `the field ${name} only once in what must match together`, got: value });
  return before.map((fields) => new Map([...fields, [name, { path: name, ...values }]]));
}

function readValues(values: readonly unknown[], { path }: Given, report: Report): Omit<FieldPattern, 'path'> {
  if (values.length === 0) report({ path, expected: 'at least one value that matches', got: values });
  const read = values.map((value, index) => readValue({ value, path: [...path, index] }, report));
  return {
    tests: read.filter((each): each is Test => typeof each === 'function'),
    mayBeAbsent: read.includes(ABSENT),
  };
}

type Matcher = Test | typeof ABSENT | undefined;

const TYPES = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(Object.keys(matchTypes));

function readValue({ value, path }: Given, report: Report): Matcher {
  if (isObject(value)) return readMatchType({ value, path }, report);
  if (typeof value === 'string') {
    const matchesAddress = sameAddress(value);
    if (matchesAddress !== undefined) return (each) => typeof each === 'string' && matchesAddress(each);
  }
  if (value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value))
    return (each) => each === value;
  report({
    path,
    expected: 'text, a number, true, false, null or a match type such as {"prefix": "a"}',
    got: value,
  });
  return undefined;
}

const isMatchType = (name: string): name is keyof typeof matchTypes => Object.hasOwn(matchTypes, name);

function readMatchType({ value, path }: Given & { readonly value: object }, report: Report): Matcher {
  const [[name, inner] = [''], ...others] = Object.entries<unknown>({ ...value });
  if (!isMatchType(name) || others.length > 0) {
    report({ path, expected: `exactly one of the match types ${TYPES}`, got: value });
    return undefined;
  }
  const { read, expected } = matchTypes[name];
  const matcher = read(inner);
  if (matcher === undefined) report({ path: [...path, name], expected, got: inner });
  return matcher;
}

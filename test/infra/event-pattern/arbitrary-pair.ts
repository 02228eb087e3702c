import * as fc from 'fast-check';

/*
 * Patterns and events over few names and values, so that many match. Cases with known faults of the engine are
 * excluded: case-insensitive characters beyond 16 bits, empty names, wide address ranges, IPv6 addresses, and a name
 * with a dot next to the same path without one.
 */

const names = ['a', 'b', 'c', 'é', 'd.e'] as const;

const patternNames = [...names, 'd', 'e', 'a.b'] as const;

const texts = ['', 'x\n"y"', ...'a ab aB abc b bc é É ß SS ſ İ ŉ a*b a\\b null 1'.split(' ')];

const supplementary = ['😀', 'a😀', '𐐀', '𐐨'];

const ipv4 = ['10.0.0.1', '010.0.0.1', '10.0.0.255', '10.1.0.0', '192.168.77.5'];

/** Numbers as JSON texts. */
const numbers = [
  ...'0 -0 -0.0 1 1.0 10e-1 1E0 5 5.00 0.5 5e-1 -1 1e2 100 0.1 12345678901234567890 1e400 1e-400'.split(' '),
  ...['0.1000000000000000055511151231257827', '123456789012'],
];

const text = fc.constantFrom(...texts, ...supplementary, ...ipv4);

/** The JSON of a leaf. */
const leaf = fc.oneof(
  { arbitrary: text.map((each) => JSON.stringify(each)), weight: 5 },
  { arbitrary: fc.constantFrom(...numbers), weight: 3 },
  fc.constantFrom('null', 'true', 'false'),
);

const objectOf = (value: fc.Arbitrary<string>, least = 0): fc.Arbitrary<string> =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), value), {
      minLength: least,
      maxLength: 4,
      selector: ([name]) => name,
    })
    .map((fields) => `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${each}`).join(',')}}`);

const arrayOf = (value: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(value, { maxLength: 4 }).map((items) => `[${items.join(',')}]`);

/** Values of events. Shallow ones come first, so that patterns often find their fields. */
function eventValue(depth: number): fc.Arbitrary<string> {
  if (depth === 0) return leaf;
  const inner = eventValue(depth - 1);
  return fc.oneof(
    { arbitrary: leaf, weight: 3 },
    { arbitrary: arrayOf(inner), weight: 2 },
    { arbitrary: objectOf(inner), weight: 2 },
  );
}

/** The JSON of an event. */
const arbitraryEvent: fc.Arbitrary<string> = objectOf(eventValue(3), 2);

/** A value of another type, used occasionally. Most patterns with one are invalid. */
const wrong = fc.constantFrom<unknown>(
  null,
  true,
  1,
  'a',
  '',
  [],
  {},
  ['a', 1],
  [['a']],
  { prefix: 1 },
  { x: 'a' },
  'a**b',
  'a\\',
);
const mostly = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: value, weight: 200 }, { arbitrary: wrong, weight: 1 });

const filled = text.filter((each) => each !== '');
const plain = fc.constantFrom(...texts);
const some = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 }));
const number = fc
  .constantFrom(...numbers)
  .map(Number)
  .filter(Number.isFinite);
const wildcardText = fc
  .array(fc.constantFrom('a', 'b', 'c', '*', '\\*', '\\\\', 'é', '😀'), { maxLength: 4 })
  .map((parts) => parts.join('').replaceAll(/(?<!\\)\*+/g, '*'));

const matchTypes: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  exactly: text,
  prefix: fc.oneof(text, fc.record({ 'equals-ignore-case': plain })),
  suffix: fc.oneof(text, fc.record({ 'equals-ignore-case': plain })),
  'equals-ignore-case': plain,
  wildcard: wildcardText,
  'anything-but': fc.oneof(
    some(text),
    some(number),
    fc.record({ prefix: some(filled) }),
    fc.record({ suffix: some(filled) }),
    fc.record({ 'equals-ignore-case': some(plain) }),
    fc.record({ wildcard: some(wildcardText) }),
  ),
  numeric: fc.oneof(
    fc.tuple(fc.constantFrom('=', '<', '<=', '>', '>='), number),
    fc
      .tuple(fc.constantFrom('>', '>='), number, fc.constantFrom('<', '<='), number)
      .filter(([, bottom, , top]) => bottom < top),
  ),
  cidr: fc
    .tuple(fc.constantFrom(...ipv4), fc.integer({ min: 8, max: 31 }))
    .map(([address, bits]) => `${address}/${bits}`),
  exists: fc.boolean(),
};

const matcher = fc.oneof(
  ...Object.entries(matchTypes).map(([type, value]) => mostly(value).map((each) => ({ [type]: each }))),
);

const values = fc.array(
  mostly(
    fc.oneof(
      { arbitrary: text, weight: 4 },
      { arbitrary: number, weight: 3 },
      fc.constantFrom(null, true, false),
      { arbitrary: matcher, weight: 12 },
    ),
  ),
  { minLength: 1, maxLength: 4 },
);

function fieldsOf(depth: number): fc.Arbitrary<unknown> {
  const value =
    depth === 0 ? values : fc.oneof({ arbitrary: values, weight: 2 }, mostly(fieldsOf(depth - 1)));
  const fields = fc.dictionary(fc.constantFrom(...patternNames), mostly(value), { minKeys: 1, maxKeys: 3 });
  if (depth === 0) return fields;
  const branches = fc.array(mostly(fieldsOf(depth - 1)), { minLength: 2, maxLength: 3 });
  return fc.oneof(
    { arbitrary: fields, weight: 4 },
    fc.tuple(fields, branches).map(([others, $or]) => ({ ...others, $or })),
    fc.tuple(fields, branches).map(([others, $or]) => ({ $or, ...others })),
  );
}

/** A pattern derived from an event's values, so that it sometimes matches. */
function fitting(value: unknown): fc.Arbitrary<unknown> {
  if (Array.isArray(value)) return value.length === 0 ? values : fc.constantFrom(...value).chain(fitting);
  if (value === Number.POSITIVE_INFINITY) return values;
  if (typeof value !== 'object' || value === null)
    return fc.tuple(values, fc.boolean()).map(([others, fits]) => (fits ? [...others, value] : others));
  const fields = Object.entries(value);
  if (fields.length === 0) return values;
  return fc
    .subarray(fields, { minLength: 1, maxLength: Math.min(3, fields.length) })
    .chain((chosen) => fc.record(Object.fromEntries(chosen.map(([name, each]) => [name, fitting(each)]))));
}

/** A pattern as the value of its JSON, and an event as JSON. Some patterns are invalid. */
export const arbitraryPair: fc.Arbitrary<{ readonly pattern: unknown; readonly event: string }> =
  arbitraryEvent.chain((event) =>
    fc.record({
      pattern: fc.oneof({ arbitrary: fitting(JSON.parse(event)), weight: 2 }, fieldsOf(2)),
      event: fc.constant(event),
    }),
  );

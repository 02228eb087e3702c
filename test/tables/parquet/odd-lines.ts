import fc from 'fast-check';
import type { TableColumns } from '../../../lib/tables/parquet/hive-type.ts';

/** A table with a column of every type. */
export const oddTable = {
  id: 'string',
  count: 'bigint',
  isSet: 'boolean',
  tags: 'array<string>',
  owners: 'array<struct<id:string,Since:bigint>>',
  links: 'map<string,array<string>>',
  sizes: 'map<string,bigint>',
  grid: 'array<array<bigint>>',
  place: 'struct<kind:string,within:struct<isMain:boolean,name:string>>',
  count_at: 'timestamp',
  _other: 'string',
} as const satisfies TableColumns;

const numbers = fc.oneof(
  fc.constantFrom(
    '0', '-0', '1.0', '1e3', '1E+3', '10e-1', '1.5', '0.1e1', '-12.50e2', '0e99999999999999999999', '1e400',
    '9007199254740993', '123456789012345', '1234567890123456', '123456789012345678901234567890',
    '9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809',
    '922337203685477580.7e1', '253402300799999', '253402300800000', '-62135596800000', '-62135596800001', '1e-1',
  ),
  fc.maxSafeInteger().map(String),
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
); // biome-ignore format: one line per kind

const texts = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '""',
    '"\\ud83d\\ude00"',
    '"\\ud800"',
    '"a\\udc00b"',
    '"\\u0000\\n\\""',
    '"\\/\\\\"',
    '"\u2028😀"',
    '"\\u0061"',
    '"true"',
    '"12"',
    '"__proto__"',
  ),
);

const scalars = fc.oneof(numbers, texts, fc.constantFrom('null', 'true', 'false'));

const spaces = fc.constantFrom('', '', '', ' ', '\t', '  ');

const inSpaces = (text: fc.Arbitrary<string>) =>
  fc.tuple(spaces, text, spaces).map((parts) => parts.join(''));

const listOf = (element: fc.Arbitrary<string>) =>
  fc.array(inSpaces(element), { maxLength: 4 }).map((elements) => `[${elements.join(',')}]`);

/** An object with these members in any order, some of them repeated. */
const objectOf = (member: fc.Arbitrary<string>) =>
  fc.array(inSpaces(member), { maxLength: 6 }).map((members) => `{${members.join(',')}}`);

/** A member of an object, in any notation. */
export const member = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc
    .tuple(name, spaces, spaces, value)
    .map(([key, before, after, text]) => `${key}${before}:${after}${text}`);

const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    listOf(tie('json')),
    objectOf(member(texts, tie('json'))),
  ),
}));

/** Any JSON, including unusual kinds. */
export const oddJson: fc.Arbitrary<string> = json;

const named = (name: string, value: fc.Arbitrary<string>) =>
  member(
    fc.constantFrom(JSON.stringify(name), JSON.stringify(name), escaped(name)),
    fc.oneof({ weight: 4, arbitrary: value }, json),
  );

/** A name with its first letter escaped. */
const escaped = (name: string): string =>
  `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}"`;

const structs = (fields: Readonly<Record<string, fc.Arbitrary<string>>>) =>
  objectOf(fc.oneof(...Object.entries(fields).map(([name, value]) => named(name, value))));

const booleans = fc.constantFrom('true', 'false', 'null');

const members = fc.oneof(
  named('id', fc.oneof(texts, numbers)),
  named('count', numbers),
  named('isSet', booleans),
  named('tags', listOf(texts)),
  named('owners', listOf(structs({ id: texts, Since: numbers, since: numbers }))),
  named('links', objectOf(member(texts, listOf(texts)))),
  named('sizes', objectOf(member(texts, numbers))),
  named('grid', listOf(listOf(numbers))),
  named('place', structs({ kind: texts, within: structs({ isMain: booleans, name: texts }), other: json })),
  named('count_at', numbers),
  named('_other', json),
  named('Id', texts),
  member(texts, json),
);

/** Lines of NDJSON without their line feeds: records, most of whose members fit `oddTable`, and sometimes any other text. */
export const oddLine = fc.oneof(
  { weight: 9, arbitrary: fc.array(inSpaces(members), { maxLength: 12 }).map((all) => `{${all.join(',')}}`) },
  json,
);

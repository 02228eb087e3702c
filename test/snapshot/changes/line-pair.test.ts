import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalExact, parseExact } from '../../../lib/base/json/json.ts';
import { createMembers, readLine, readMembers } from '../../../lib/snapshot/changes/line-members.ts';
import { lineOf } from '../../../lib/snapshot/changes/line-reader.ts';
import { differingFields } from '../../../lib/snapshot/changes/side-by-side.ts';
import { scaled } from '../../scale.ts';

/* Two lines are compared as bytes. The differences must be those of the parsed lines, whatever the lines are. */

const rules = {
  key: { owner: ['_owner', 'owner'], id: 'id', isInteger: true },
  label: 'name',
  volatile: ['url'],
  sets: ['tags'],
};

/** Reads a line between two others, as in a part. */
function betweenOthers(text: string) {
  const { json } = lineOf(Buffer.from(`{"id":1}\n${text}\n{"id":2,"_owner":"a"}\n`));
  const read = { line: { json, start: 9, end: 9 + Buffer.byteLength(text) }, members: createMembers() };
  readMembers(read.line, read.members);
  return read;
}

const value = fc.constantFrom(
  ...['0', '-0', '1', '12', '1.0', '1e0', '10e-1', '9007199254740993', '"a"', '"\\u0061"', '"ä"', '"a,"'],
  ...[
    'null',
    'true',
    'false',
    '[]',
    '["p","q"]',
    '["q","p","p"]',
    '{}',
    '{"id":2}',
    '{ "id":2}',
    '[[1],{"x":"]"}]',
  ],
);
const name = fc.constantFrom('x', 'y', 'url', 'tags', 'owner', '\\u0078', 'id');
const member = fc.tuple(name, value).map(([named, text]) => `"${named}":${text}`);
const lineText = fc
  .tuple(
    fc.constantFrom('{"_owner":"a","id":1', '{"id":1,"owner":"b"', '{ "_owner": "c", "id": 1'),
    fc.array(member),
  )
  .map(([head, members]) => `${[head, ...members].join(',')}}`);
/** Two unrelated lines, or one line with one value replaced. */
const pairOfLines = fc.oneof(
  fc.tuple(lineText, lineText),
  fc
    .tuple(lineText, value, value, lineText)
    .map(
      ([line, old, now, other]) => [replaceLast(line, old, other), replaceLast(line, now, other)] as const,
    ),
);

const replaceLast = (text: string, now: string, other: string): string =>
  `${text.slice(0, -1)},"x":${now},${other.slice(1).trimStart().replace('"id":1', '"size":1')}`;

test('for any two lines, the fields that differ are the fields that differ in the parsed records', () => {
  fc.assert(
    fc.property(pairOfLines, ([before, after]) => {
      const [old, now] = [parseExact(before) as object, parseExact(after) as object];

      const found = differingFields(rules, betweenOthers(before), betweenOthers(after).line);

      expect(found).toEqual(fieldsThatDiffer(new Map(Object.entries(old)), new Map(Object.entries(now))));
    }),
    { numRuns: scaled(2_000, 100_000) },
  );
});

test.each(['{a":1}', '{"id":1,x"a":1}', '{"a"1}', '{"a":1]', '[1]'])('%s is not a record', (text) => {
  expect(() => readLine(Buffer.from(text))).toThrow(SyntaxError);
});

function fieldsThatDiffer(old: ReadonlyMap<string, unknown>, now: ReadonlyMap<string, unknown>) {
  const names = [...new Set([...old.keys(), ...now.keys()])].filter((each) => each !== 'url');
  return names.filter((each) => printed(old, each) !== printed(now, each)).sort();
}

function printed(fields: ReadonlyMap<string, unknown>, of: string): string | undefined {
  const found = fields.get(of);
  if (!fields.has(of)) return undefined;
  if (of !== 'tags' || !Array.isArray(found)) return canonicalExact(found);
  return [...new Set(found.map(canonicalExact))].sort().join();
}

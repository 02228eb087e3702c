import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalExact, parseExact } from '../../../lib/base/json/exact-json.ts';
import { parseJson } from '../../../lib/base/json/json.ts';
import {
  createDifferingFields,
  createPairReader,
  noPair,
} from '../../../lib/snapshot/changes/differing-fields.ts';
import { lineOf } from '../../../lib/snapshot/changes/line-reader.ts';
import { recordKey } from '../../../lib/snapshot/changes/record-key.ts';
import { scaled } from '../../scale.ts';

/*
 * Two lines are read together as bytes. Whatever they are, what is found must be what parsing both finds.
 */

const rules = {
  key: { owner: ['_owner', 'owner'], id: 'id', isInteger: true },
  label: 'name',
  volatile: ['url'],
  sets: ['tags'],
  inKeyOrder: true,
};

const readPair = createPairReader(rules);
const differing = createDifferingFields(rules);

/** A line amid others, as in a part. */
function amidOthers(text: string) {
  const { json } = lineOf(Buffer.from(`{"id":1}\n${text}\n{"id":2,"_owner":"a"}\n`));
  return { json, start: 9, end: 9 + Buffer.byteLength(text) };
}

function read(before: string, after: string) {
  const pair = noPair();
  return readPair(amidOthers(before), amidOthers(after), pair) ? pair : undefined;
}

test('lines that differ in values only are read together', () => {
  const before = '{"_owner":"a","id":12,"name":"x","url":"1","tags":["p","q"],"size":1.0,"at":5}';
  const after = '{"_owner":"a","id":12,"name":"xy","url":"2","tags":["q","p","p"],"size":1,"at":56}';

  expect(read(before, after)).toEqual({ key: 'a/12', fields: ['at', 'name'] });
});

test.each([
  ['another id', '{"_owner":"a","id":1}', '{"_owner":"a","id":12}'],
  ['another owner', '{"_owner":"a","id":1}', '{"_owner":"b","id":1}'],
  ['a name that occurs twice', '{"_owner":"a","id":1,"x":1,"x":2}', '{"_owner":"a","id":1,"x":3,"x":2}'],
  [
    'the same name, escaped',
    '{"_owner":"a","id":1,"x":1,"\\u0078":2}',
    '{"_owner":"a","id":1,"x":3,"\\u0078":2}',
  ],
  ['another order', '{"_owner":"a","id":1,"x":1,"y":1}', '{"_owner":"a","id":1,"y":1,"x":1}'],
  ['one more member', '{"_owner":"a","id":1,"x":1}', '{"_owner":"a","id":1,"x":1,"y":1}'],
  ['one member less', '{"_owner":"a","id":1,"x":1,"y":1}', '{"_owner":"a","id":1,"x":1}'],
  ['a line after that is cut', '{"_owner":"a","id":1,"x":[1]}', '{"_owner":"a","id":1,"x":[1'],
  ['a line after with more behind it', '{"_owner":"a","id":1,"x":1}', '{"_owner":"a","id":1,"x":2}}'],
  ['a value after that is not JSON', '{"_owner":"a","id":1,"x":1}', '{"_owner":"a","id":1,"x":01}'],
  ['no owner', '{"id":1,"x":1}', '{"id":1,"x":2}'],
])('lines with %s are read one by one', (_, before, after) => {
  expect(read(before, after)).toBeUndefined();
});

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
/** The same line with one value replaced, or nearly so. */
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

test('whatever two lines are, the fields in which they differ are those of the parsed records', () => {
  fc.assert(
    fc.property(pairOfLines, ([before, after]) => {
      const [old, now] = [parseExact(before) as object, parseExact(after) as object];
      const pair = read(before, after);

      const expected = fieldsThatDiffer(new Map(Object.entries(old)), new Map(Object.entries(now)));
      expect(differing(amidOthers(before), amidOthers(after))).toEqual(expected);
      if (pair === undefined) return;
      expect(pair.fields).toEqual(expected);
      expect(pair.key).toBe(recordKey(rules.key, parseJson(before)));
      expect(pair.key).toBe(recordKey(rules.key, parseJson(after)));
    }),
    { numRuns: scaled(2_000, 100_000) },
  );
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

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson } from '../../../lib/json/json.ts';
import { sliceRecords } from '../../../lib/snapshot/page/slice-records.ts';

test('each element is returned as it was sent, byte for byte', () => {
  const text =
    '{"totalHits": 3, "results": [ {"id": 9007199254740993, "n": 1.10}, {"a":[{}]},{}  ], "hasMore":false}';

  const slices = sliceRecords(text, 'results');

  expect(slices).toEqual(['{"id": 9007199254740993, "n": 1.10}', '{"a":[{}]}', '{}']);
});

test('brackets, commas and quotes within strings are not structure', () => {
  const text = '{"a":"],[{\\"","results":[{"x":"]}\\\\"},{"results":[1,2]}]}';

  expect(sliceRecords(text, 'results')).toEqual(['{"x":"]}\\\\"}', '{"results":[1,2]}']);
});

test.each([
  ['{"results":[]}', []],
  ['{"results":[ \n ]}', []],
  ['{"results":null}', []],
  ['{"other":[1]}', []],
  ['[{"results":[1]}]', []],
  ['{"results":[1],"results":[2]}', ['2']],
  ['{"results":[1],"results":{}}', []],
  ['{"r\\u0065sults":[7]}', ['7']],
  ['{"other":"results","x":[1]}', []],
])('%s contains %j', (text, expected) => {
  expect(sliceRecords(text, 'results')).toEqual(expected);
});

test('whatever JSON the page is, the slices are its elements', () => {
  const page = fc.record({
    before: fc.jsonValue(),
    results: fc.array(fc.jsonValue()),
    after: fc.jsonValue(),
  });
  fc.assert(
    fc.property(page, fc.nat(3), (value, indent) => {
      const slices = sliceRecords(JSON.stringify(value, undefined, indent), 'results');

      expect(slices.map(parseJson)).toEqual(value.results.map((each) => parseJson(JSON.stringify(each))));
    }),
  );
});

test('texts of many million characters are skipped, with and without escapes', () => {
  const [plain, escaped] = ['x'.repeat(20_000_000), '\\"'.repeat(5_000_000)];

  expect(sliceRecords(`{"results":[{"a":"${plain}"},{"a":"${escaped}"}]}`, 'results')).toEqual([
    `{"a":"${plain}"}`,
    `{"a":"${escaped}"}`,
  ]);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { repairBytes } from '../../../lib/base/json/json.ts';

test.each([
  ['{"a":NaN}', '{"a":null}'],
  ['[-Infinity, Infinity,NaN]', '[null, null,null]'],
  ['"NaN\t"', '"NaN\\t"'],
  ['["\\\\",NaN,"\\"NaN\n"]', '["\\\\",null,"\\"NaN\\n"]'],
  ['{}\0\0\r\n', '{}'],
])('%j is repaired', (text, repaired) => {
  expect(repairBytes(Buffer.from(text))?.toString()).toBe(repaired);
});

test.each(['', '{"a":1', '[1,]', "{'a':1}", 'NaNs', 'notNaN', '"open', '{"a":undefined}'])(
  '%j cannot be repaired',
  (text) => {
    expect(repairBytes(Buffer.from(text))).toBeUndefined();
  },
);

test('bytes that are not UTF-8 are replaced with U+FFFD', () => {
  expect(repairBytes(Buffer.from('["\xe9"]', 'latin1'))?.toString()).toBe('["\ufffd"]');
});

/** True if a string survives conversion to bytes, which replaces invalid characters by U+FFFD. */
const survivesEncoding = (text: string) => text.isWellFormed() && !text.includes('\ufffd');

test('valid JSON is unchanged, and repaired JSON is valid', () => {
  fc.assert(
    fc.property(fc.json().filter(survivesEncoding), (text) => {
      expect(repairBytes(Buffer.from(text))).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }).filter(survivesEncoding), (text) => {
      const repaired = repairBytes(Buffer.from(text));

      expect(repaired && repairBytes(repaired)).toBeUndefined();
    }),
  );
});

import { expect, test } from 'vitest';
import { gatherBytes, gatherInPlace } from '../../../lib/base/json/growing.ts';

test.each([1, 5, 6, 100, undefined])(
  'the bytes come out as they were added, with %s bytes expected',
  (expected) => {
    const gathered = gatherBytes(expected);

    for (const piece of ['a', '', 'bcd', 'ef']) gathered.add(Buffer.from(piece));

    expect(gathered.bytes().toString()).toBe('abcdef');
    expect(gathered.sizeBytes()).toBe(6);
  },
);

test('strings come out as UTF-8 between bytes', () => {
  const gathered = gatherBytes(1);

  gathered.add(Buffer.from('a'));
  gathered.addText('ä€😀');
  gathered.add(Buffer.from('b'));
  gathered.addText('');

  expect(gathered.bytes().toString()).toBe('aä€😀b');
});

test.each([gatherBytes, gatherInPlace])('clearing empties the bytes, and more can be added', (gather) => {
  const gathered = gather(4);
  gathered.add(Buffer.from('abc'));
  gathered.clear();
  gathered.add(Buffer.from('de'));
  expect(gathered.bytes().toString()).toBe('de');
});

test('the memory of the gathered bytes is not shared', () => {
  const gathered = gatherBytes(3);
  gathered.add(Buffer.from('abc'));
  expect(gathered.bytes().byteOffset).toBe(0);
  expect(gathered.bytes().buffer.byteLength).toBe(3);
});

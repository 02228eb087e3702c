import { expect, test } from 'vitest';
import { linesInPlace } from '../../../lib/snapshot/page/page-lines.ts';
import { scanObject } from '../../../lib/snapshot/page/scan-response.ts';

/** The lines from a row on, as text, and the memory of the page. */
function linesOf(page: string, from: number) {
  const bytes = Buffer.from(page);
  const { found } = scanObject(bytes, 'results', { key: 'id', keyIs: 'integer' });
  const lines = found && linesInPlace(found, from);
  return { text: lines?.toString(), memory: lines?.buffer, page: bytes };
}

test('the lines are made in the memory of the page', () => {
  const { text, memory, page } = linesOf('{"results":[{"id":1},{"id":2},{"id":3}],"x":[1,2]}', 1);

  expect(text).toBe('{"id":2}\n{"id":3}\n');
  expect(memory).toBe(page.buffer);
  expect(page.toString()).toBe('{"results":[{"id":1},{"id":2}\n{"id":3}\n,"x":[1,2]}');
});

test('after the last row there are no lines, and the page stays as it is', () => {
  const { text, page } = linesOf('{"results":[{"id":1},{"id":2}]}', 2);

  expect(text).toBe('');
  expect(page.toString()).toBe('{"results":[{"id":1},{"id":2}]}');
});

test.each([
  ['a space between two records', '{"results":[{"id":1}, {"id":2}]}'],
  ['a line feed in a record', '{"results":[{"id":1},{"id":\n2}]}'],
  ['a carriage return in a record', '{"results":[{"id":1\r},{"id":2}]}'],
])('with %s there are none, and the page stays as it is', (_, text) => {
  const lines = linesOf(text, 0);

  expect(lines.text).toBeUndefined();
  expect(lines.page.toString()).toBe(text);
});

test('what is before the first row and after the last one does not matter', () => {
  expect(linesOf('{"results":[{"id":\n1}, {"id":2},{"id":3} \n]\r}', 1).text).toBe('{"id":2}\n{"id":3}\n');
});

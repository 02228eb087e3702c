import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sentBytes } from '../../../../lib/jobs/queue/queue.ts';
import { type Chunk, cutChunks, isBad } from '../../../../lib/jobs/texts/batch/check-batch.ts';
import { anyCodePoint } from '../../../any-text.ts';
import { scaled } from '../../../scale.ts';
import type { InputRow } from '../fakes.ts';
import { row, rowsOf } from '../fakes.ts';

const cut = (rows: readonly InputRow[]): Promise<Chunk[]> => Array.fromAsync(cutChunks(rowsOf(rows)()));

const lines = (count: number) => Array.from({ length: count }, (_, index) => row(index + 1, 'good'));

test('a chunk has at most 100 rows, including bad ones', async () => {
  const rows = [...lines(150), { line: 151, fault: 'no text' }, ...lines(50)];

  const chunks = await cut(rows);

  expect(chunks.map(({ index, rows: held }) => [index, held.length])).toEqual([
    [0, 100],
    [1, 100],
    [2, 1],
  ]);
});

test('a chunk has at most 200 KB of texts as JSON', async () => {
  const text = 'ä'.repeat(51_000);

  const chunks = await cut([row(1, text), row(2, text), row(3, 'x'.repeat(800))]);

  expect(chunks.map(({ rows }) => rows.length)).toEqual([2, 1]);
});

test('a chunk has room for the escapes of characters that SQS refuses', async () => {
  const text = '\uFFFE\uFFFF'.repeat(8_000);

  const chunks = await cut([row(1, text), row(2, text), row(3, text), row(4, '\uFFFF'.repeat(34_134))]);

  expect(chunks.map(({ rows }) => rows.length)).toEqual([2, 2]);
  expect(chunks[1]?.rows[1]).toEqual({
    line: 4,
    id: 'user-4',
    fault: 'the text takes 204806 bytes as JSON, more than 204800',
  });
});

test('a text that is blank, or too large as JSON, becomes a bad row with its line', async () => {
  const rows = [
    row(1, 'x'.repeat(204_799)),
    row(2, ' \n'),
    row(3, '"'.repeat(102_400)),
    row(4, 'x'.repeat(204_798)),
  ];

  const [chunk] = await cut(rows);

  expect(chunk?.rows.slice(0, 3)).toEqual([
    { line: 1, id: 'user-1', fault: 'the text takes 204801 bytes as JSON, more than 204800' },
    { line: 2, id: 'user-2', fault: 'the text is blank' },
    { line: 3, id: 'user-3', fault: 'the text takes 204802 bytes as JSON, more than 204800' },
  ]);
  expect(chunk?.rows[3]).toBe(rows[3]);
});

test('every row is in one chunk, in order, and every chunk fits in a message', async () => {
  const text = fc.oneof(
    fc.string({ unit: anyCodePoint }),
    fc.nat(34_000).map((length) => '\uFFFF'.repeat(length).concat('x')),
    fc.nat(120_000).map((length) => '\n'.repeat(length).concat('x')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 20 }), async (texts) => {
      const chunks = await cut(texts.map((each, index) => row(index, each)));

      expect(chunks.flatMap(({ rows }) => rows.map(({ line }) => line))).toEqual(
        texts.map((_, index) => index),
      );
      for (const { rows } of chunks) {
        const held = rows.flatMap((each) => (isBad(each) ? [] : [each.text]));
        expect(held.reduce((sum, each) => sum + Buffer.byteLength(each), 0)).toBeLessThanOrEqual(200 * 1024);
        expect(sentBytes(JSON.stringify(held))).toBeLessThanOrEqual(206_000);
      }
    }),
    { numRuns: scaled(20, 100) },
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { batchesOf } from '../../../lib/jobs/queue/message-batches.ts';

test('batches keep the order, and hold at most 10 messages and 256 KB', () => {
  const sizes = fc.array(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 262_144 })));

  fc.assert(
    fc.property(sizes, (bytes) => {
      const messages = bytes.map((size) => 'é'.repeat(size / 2) + 'x'.repeat(size % 2));

      const batches = [...batchesOf(messages)];

      expect(batches.flat()).toEqual(messages);
      for (const batch of batches) {
        expect(batch.length).toBeGreaterThan(0);
        expect(batch.length).toBeLessThanOrEqual(10);
        expect(Buffer.byteLength(batch.join(''))).toBeLessThanOrEqual(262_144);
      }
    }),
  );
});

test('batches are filled up', () => {
  expect([...batchesOf(Array.from({ length: 21 }, () => 'x'))].map(({ length }) => length)).toEqual([
    10, 10, 1,
  ]);
});

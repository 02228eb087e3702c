import { describe, expect, test } from 'vitest';
import type { BreakerItem, OpenBreaker } from '../../lib/pace/breaker.ts';

/** What every place of a breaker promises, in DynamoDB or in memory. `makeItem` returns an unused one. */
export function breakerSuite(name: string, makeItem: () => BreakerItem): void {
  const first: OpenBreaker = {
    sinceMs: 1_795_276_800_000,
    cause: 'unreachable',
    probeAtMs: 1_795_276_810_000,
  };
  const second: OpenBreaker = { ...first, sinceMs: first.sinceMs + 60_000, cause: 'server errors' };

  describe(name, () => {
    test('is closed at first, and open as the first worker opened it', async () => {
      const item = makeItem();
      const before = await item.read();

      await item.open(first);
      await item.open(second);

      expect(before).toBeUndefined();
      expect(await item.read()).toEqual(first);
    });

    test('one of several workers gets a probe, and the next one is later', async () => {
      const item = makeItem();
      await item.open(first);
      const nextMs = first.probeAtMs + 10_000;

      const taken = await Promise.all([1, 2, 3].map(() => item.takeProbe(first, nextMs)));

      expect(taken.toSorted()).toEqual([false, false, true]);
      expect(await item.read()).toEqual({ ...first, probeAtMs: nextMs });
      expect(await item.takeProbe({ ...first, probeAtMs: nextMs }, nextMs + 1)).toBe(true);
    });

    test('is closed by whoever saw it open, but not if it was opened again since', async () => {
      const item = makeItem();
      await item.open(first);
      await item.close(first);
      const closed = await item.read();
      const isTaken = await item.takeProbe(first, 1);

      await item.open(second);
      await item.close(first);

      expect([closed, isTaken]).toEqual([undefined, false]);
      expect(await item.read()).toEqual(second);
      expect(await item.takeProbe(first, 1)).toBe(false);
    });
  });
}

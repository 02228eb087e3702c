import { expect, test, vi } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import type { DateSeen } from '../../lib/table/open-table.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const YEARS_MS = 2 * 365 * 86_400_000;
const LIFETIME_MS = 30 * 86_400_000;
const key = { partition: 'job#a', sort: '-' };

/** The expiry, in milliseconds by AWS's clock, that a worker stores whose clock is off by so much. */
async function expiryOf(offMs: number, { hasSeen }: { readonly hasSeen: boolean }) {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW + offMs });
  const sent: { readonly input: { readonly Item?: { readonly expires?: { readonly N: string } } } }[] = [];
  const client = { send: async (command: (typeof sent)[number]) => void sent.push(command) };
  const onDate = (listener: (seen: DateSeen) => void) => {
    if (hasSeen) listener({ dateMs: NOW, sentMs: Date.now(), receivedMs: Date.now() });
  };
  const table = createDynamoTable({ tableName: 't', environment: {}, client: client as never, onDate });
  await table.put(key, {}, { expected: null, token: 't', expiresAtMs: Date.now() + LIFETIME_MS });
  vi.useRealTimers();
  const expires = sent[0]?.input.Item?.expires?.N;
  return expires === undefined ? undefined : Number(expires) * 1_000;
}

test.each([-YEARS_MS, -LIFETIME_MS, 0, YEARS_MS])(
  'a worker whose clock is off by %i ms lets no row expire before its time',
  async (offMs) => {
    expect(await expiryOf(offMs, { hasSeen: true })).toBeGreaterThanOrEqual(NOW + LIFETIME_MS);
  },
);

test('one that is behind stores the very time', async () => {
  expect((await expiryOf(-YEARS_MS, { hasSeen: true })) ?? 0).toBeLessThan(NOW + LIFETIME_MS + 10_000);
});

test('before the first response of the table no row expires', async () => {
  expect(await expiryOf(-YEARS_MS, { hasSeen: false })).toBeUndefined();
});

import { afterEach, describe, expect, test, vi } from 'vitest';
import { createDynamoTable } from '../../lib/table/dynamo-table.ts';
import type { DateSeen } from '../../lib/table/open-table.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const YEARS_MS = 2 * 365 * 86_400_000;
const LIFETIME_MS = 30 * 86_400_000;
const key = { partition: 'job#a', sort: '-' };

afterEach(() => void vi.useRealTimers());

/** A table, the expiries that it stores, and `see`, which reports a response with a date (default: `NOW`) by AWS's clock. */
function createBench() {
  const expiries: (number | undefined)[] = [];
  const listeners: ((seen: DateSeen) => void)[] = [];
  type Put = { readonly input: { readonly Item: { readonly expires?: { readonly N: string } } } };
  const client = {
    async send({ input: { Item } }: Put) {
      expiries.push(Item.expires === undefined ? undefined : Number(Item.expires.N) * 1_000);
    },
  };
  const onDate = (listener: (seen: DateSeen) => void) => void listeners.push(listener);
  const table = createDynamoTable({ tableName: 't', environment: {}, client: client as never, onDate });
  return {
    expiries,
    put: () => table.put(key, {}, { expected: null, token: 't', lifetimeMs: LIFETIME_MS }),
    see(dateMs = NOW) {
      for (const listener of listeners) listener({ dateMs, sentMs: Date.now(), receivedMs: Date.now() });
    },
  };
}

const setClock = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: ms });

describe.each([-YEARS_MS, -LIFETIME_MS, 0, YEARS_MS])('a worker whose clock is off by %i ms', (offMs) => {
  test('stores the exact expiry by the table’s clock', async () => {
    const { put, see, expiries } = createBench();
    setClock(NOW + offMs);
    see();

    await put();

    expect(expiries[0]).toBeGreaterThanOrEqual(NOW + LIFETIME_MS);
    expect(expiries[0]).toBeLessThan(NOW + LIFETIME_MS + 10_000);
  });

  test('stores no expiry that is too early once its clock is corrected', async () => {
    const { put, see, expiries } = createBench();
    setClock(NOW + offMs);
    see();
    setClock(NOW);

    await put();

    expect(expiries[0]).toBeGreaterThanOrEqual(NOW + LIFETIME_MS);
  });
});

test('a worker that slept for a day, unnoticed by its monotonic clock, stores no expiry that is too early', async () => {
  const { put, see, expiries } = createBench();
  setClock(NOW);
  see();
  setClock(NOW + 86_400_000);

  await put();

  expect(expiries[0]).toBeGreaterThanOrEqual(NOW + 86_400_000 + LIFETIME_MS);
});

test('before the first response of the table, rows get no expiry', async () => {
  const { put, expiries } = createBench();

  await put();

  expect(expiries).toEqual([undefined]);
});

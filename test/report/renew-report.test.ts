import { expect, test } from 'vitest';
import { followPublications } from '../../lib/report/after-publishing.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { storeOfEach } from '../store/store-of-each.ts';

const store = storeOfEach();

const MINUTE = 60_000;
const MIDNIGHT = Date.UTC(2026, 10, 22);

type Given = {
  readonly store: MemoryStore;
  readonly minutes?: number;
  readonly write?: (runs: Readonly<Record<string, string>>) => Promise<unknown>;
};

/** Renews the report, this number of minutes after 00:20. */
async function keep({ store, minutes = 0, write = (runs) => report(store, runs) }: Given) {
  const follow = followPublications({
    store,
    environment: {},
    write: async ({ runs }) => {
      await write(runs);
      return [];
    },
    renew: async () => undefined,
    now: () => MIDNIGHT + (20 + minutes) * MINUTE,
    warn: () => undefined,
    onOftenFailed: () => undefined,
  });
  return (await follow({ places: [] }, new AbortController().signal)).report;
}

const publish = (store: MemoryStore, run: string, place = 'calculations') =>
  store.put(`${place}/latest.json`, printStored({ run, manifest: 'm', startedAt: '2026-11-22' }));

const report = (store: MemoryStore, runs: Readonly<Record<string, string>>) =>
  store.put('report/latest.json', printStored({ version: 1, writtenAt: 1, runs }));

const failing = () => Promise.reject(new Error('no memory'));

test('no report is written until a run is published, and then one for each change of the published runs', async () => {
  expect(await keep({ store })).toBe('current');
  await publish(store, 'a');
  expect(await keep({ store })).toBe('written');
  expect(await keep({ store })).toBe('current');
  await publish(store, 'b');
  await publish(store, 'c', 'cards');
  expect(await keep({ store })).toBe('written');
  expect(await keep({ store, write: failing })).toBe('current');
});

test('a run that is published while the report is written is in the next report', async () => {
  await publish(store, 'a');
  const slow = async (runs: Readonly<Record<string, string>>) => {
    await publish(store, 'b');
    await report(store, runs);
  };

  expect(await keep({ store, write: slow })).toBe('written');
  expect(await keep({ store })).toBe('written');
  expect(await keep({ store })).toBe('current');
});

test('a failure is thrown, and the next call tries again', async () => {
  await publish(store, 'a');

  for (const minutes of [0, 10])
    await expect(keep({ store, minutes, write: failing })).rejects.toThrow('no memory');

  expect(await keep({ store, minutes: 20 })).toBe('written');
});

test('a new narrowed place that nothing else names is found in the first minutes of every third hour', async () => {
  await publish(store, 'a', 'calculations.mine');

  expect(await keep({ store, minutes: 30 })).toBe('current');
  expect(await keep({ store, minutes: 45 })).toBe('current');
  expect(await keep({ store, minutes: 165 })).toBe('written');
});

test('a deleted place is removed from the report', async () => {
  await publish(store, 'a');
  await keep({ store });
  await store.delete('calculations/latest.json');

  expect(await keep({ store })).toBe('written');
  expect(await keep({ store })).toBe('current');
});

test('a damaged place does not stop the report, nor cause it to be written repeatedly', async () => {
  await publish(store, 'a');
  await keep({ store });
  await store.put('cards/latest.json', Buffer.from('{'));
  await publish(store, 'b');

  expect(await keep({ store })).toBe('written');
  expect(await keep({ store })).toBe('current');
});

test('a report is written again if report/latest.json is damaged', async () => {
  await publish(store, 'a');
  await store.put('report/latest.json', Buffer.from('{'));

  expect(await keep({ store })).toBe('written');
  expect(await keep({ store })).toBe('current');
});

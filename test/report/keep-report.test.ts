import { expect, test } from 'vitest';
import { keepReport } from '../../lib/report/after-publishing.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';

const MINUTE = 60_000;
const MIDNIGHT = Date.UTC(2026, 10, 22);

type Given = {
  readonly store: MemoryStore;
  readonly minutes?: number;
  readonly write?: () => Promise<unknown>;
};

/** A call so many minutes after twenty past midnight, with a writer that shows what is published then. */
const keep = ({ store, minutes = 0, write = () => report(store) }: Given) =>
  keepReport({
    store,
    write,
    places: [],
    now: () => MIDNIGHT + (20 + minutes) * MINUTE,
    warn: () => undefined,
  });

const publish = (store: MemoryStore, run: string, place = 'calculations') =>
  store.put(`${place}/latest.json`, printStored({ run, manifest: 'm', startedAt: '2026-11-22' }));

/** Writes a report of what is published, as far as that can be read. */
async function report(store: MemoryStore) {
  const runs = ['calculations', 'calculations.mine', 'cards'].flatMap((place) => {
    const [, run] = /"run": "(.*)"/.exec(String(store.objects.get(`${place}/latest.json`))) ?? [];
    return run === undefined ? [] : [[place, run]];
  });
  const said = { version: 1, writtenAt: 1, runs: Object.fromEntries(runs) };
  await store.put('report/latest.json', printStored(said));
}

const failing = () => Promise.reject(new Error('no memory'));
const killed = () => new Promise(() => undefined);

test('nothing is written until something is published, and then once for each state of what is', async () => {
  const store = createMemoryStore();

  expect(await keep({ store })).toEqual({ kind: 'current' });
  await publish(store, 'a');
  expect(await keep({ store })).toEqual({ kind: 'written' });
  expect(await keep({ store })).toEqual({ kind: 'current' });
  await publish(store, 'b');
  await publish(store, 'c', 'cards');
  expect(await keep({ store })).toEqual({ kind: 'written' });
  expect(await keep({ store, write: failing })).toEqual({ kind: 'current' });
});

test('what is published while it is written is written the next time', async () => {
  const store = createMemoryStore();
  await publish(store, 'a');
  const slow = async () => {
    await report(store);
    await publish(store, 'b');
  };

  expect(await keep({ store, write: slow })).toEqual({ kind: 'written' });
  expect(await keep({ store })).toEqual({ kind: 'written' });
  expect(await keep({ store })).toEqual({ kind: 'current' });
});

test('of two at once, one writes', async () => {
  const store = createMemoryStore();
  await publish(store, 'a');

  const both = await Promise.all([keep({ store }), keep({ store })]);

  expect(both.map(({ kind }) => kind).sort()).toEqual(['in-hand', 'written']);
});

test('whoever was killed is waited for as long as it could live', async () => {
  const store = createMemoryStore();
  await publish(store, 'a');
  void keep({ store, write: killed });
  await new Promise((resolve) => setImmediate(resolve));

  expect(await keep({ store, minutes: 10 })).toEqual({ kind: 'in-hand' });
  expect(await keep({ store, minutes: 20 })).toEqual({ kind: 'written' });
});

test('what fails is thrown, and tried again by the next call', async () => {
  const store = createMemoryStore();
  await publish(store, 'a');

  for (const minutes of [0, 10])
    await expect(keep({ store, minutes, write: failing })).rejects.toThrow('no memory');

  expect(await keep({ store, minutes: 20 })).toEqual({ kind: 'written' });
});

test('a narrowed place that nobody names is found in the first minutes of an hour', async () => {
  const store = createMemoryStore();
  await publish(store, 'a', 'calculations.mine');

  expect(await keep({ store, minutes: 30 })).toEqual({ kind: 'current' });
  expect(await keep({ store, minutes: 45 })).toEqual({ kind: 'written' });
});

test('a place that is gone is taken out of the report', async () => {
  const store = createMemoryStore();
  await publish(store, 'a');
  await keep({ store });
  await store.delete('calculations/latest.json');

  expect(await keep({ store })).toEqual({ kind: 'written' });
  expect(await keep({ store })).toEqual({ kind: 'current' });
});

test('a damaged place holds up nothing, and is not written about again and again', async () => {
  const store = createMemoryStore();
  await publish(store, 'a');
  await keep({ store });
  await store.put('cards/latest.json', Buffer.from('{'));
  await publish(store, 'b');

  expect(await keep({ store })).toEqual({ kind: 'written' });
  expect(await keep({ store })).toEqual({ kind: 'current' });
});

test('a place that a report cannot show is not written about until something else is published', async () => {
  const store = createMemoryStore();
  await publish(store, 'a', 'files');

  expect(await keep({ store })).toEqual({ kind: 'written' });
  expect(await keep({ store, write: failing })).toEqual({ kind: 'current' });
  await publish(store, 'b', 'files');
  expect(await keep({ store })).toEqual({ kind: 'written' });
});

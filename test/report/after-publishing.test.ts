import { expect, test } from 'vitest';
import { followPublications } from '../../lib/report/after-publishing.ts';
import type { Store } from '../../lib/store/store.ts';
import { printStored } from '../../lib/store/stored-json.ts';
import { publishLines, wednesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';

const NOON = Date.parse('2026-11-18T12:00:00.000Z');

const writeReport = async ({ store }: { readonly store: Store }) => {
  await store.put(
    'report/latest.json',
    printStored({ version: 1, writtenAt: 1, startedAt: 1, runs: { calculations: wednesday.id }, bytes: 1 }),
  );
  return [];
};

/** Runs the work after a publication, at noon. `happened`: its steps in order. */
async function follow(given: {
  readonly write?: typeof writeReport;
  readonly digests?: readonly 'calculations'[];
  readonly signal?: AbortSignal;
}) {
  const { write = writeReport, digests = ['calculations'], signal = new AbortController().signal } = given;
  const store = createMemoryStore();
  await publishLines(store, { run: wednesday });
  const happened: string[] = [];
  const event = {
    places: ['calculations'],
    ...(digests.length === 0 ? {} : { digests: { places: [...digests], topics: ['arn'] } }),
  };
  const following = followPublications({
    store,
    environment: {},
    write: (options) => {
      happened.push('report');
      return write(options);
    },
    renew: async () => void happened.push('model'),
    openSender:
      async ({ topics }) =>
      async () =>
        void happened.push(`mail to ${topics}`),
    now: () => NOON,
    warn: (what) => void happened.push(what),
    onOftenFailed: () => undefined,
  });
  const call = () => following(event, signal);
  return { call, happened };
}

test('after a run, the report is written, then the model, then the digest; until the next run, only the model is', async () => {
  const { call, happened } = await follow({});

  const first = await call();
  const second = await call();

  expect(first).toEqual({ report: 'written', digests: [{ place: 'calculations', run: wednesday.id }] });
  expect(second).toEqual({ report: 'current', digests: [] });
  expect(happened).toEqual(['report', 'model', 'mail to arn', 'model']);
});

test('a failed report does not stop the model and the digest', async () => {
  const { call, happened } = await follow({ write: () => Promise.reject(new Error('no memory')) });

  await expect(call()).rejects.toThrow('no memory');

  expect(happened).toEqual(['report', 'model', 'mail to arn']);
});

test('no place has a digest unless it asks for one', async () => {
  const { call, happened } = await follow({ digests: [] });

  expect(await call()).toEqual({ report: 'written', digests: [] });
  expect(happened).toEqual(['report', 'model']);
});

test('when the time is up, the fault is recorded and no further step begins', async () => {
  const ending = new AbortController();
  const { call, happened } = await follow({
    signal: ending.signal,
    write: async ({ store }) => {
      ending.abort(new Error('time is up'));
      await store.put('report/latest.html', Buffer.from(''));
      return [];
    },
  });

  await expect(call()).rejects.toThrow('time is up');
  await expect(call()).rejects.toThrow('time is up');

  expect(happened.filter((what) => what !== 'report')).toEqual([]);
});

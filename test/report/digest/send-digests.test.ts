import { expect, test } from 'vitest';
import { followPublications } from '../../../lib/report/after-publishing.ts';
import type { PrintedDigest, SendDigest } from '../../../lib/report/digest/digest.ts';
import { monday, publishLines, tuesday, wednesday } from '../../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';

const NOON = Date.parse('2026-11-18T12:00:00.000Z');
const MARK = 'report/digests/calculations.json';

/** Sends digests at noon of Wednesday, and returns the runs whose digests were sent. */
async function send(store: MemoryStore, sender?: SendDigest) {
  const mails: PrintedDigest[] = [];
  const warnings: string[] = [];
  const follow = followPublications({
    store,
    environment: {},
    write: async () => [],
    renew: async () => undefined,
    openSender: async () => sender ?? (async (mail) => void mails.push(mail)),
    now: () => NOON,
    warn: (what) => void warnings.push(what),
    onOftenFailed: () => undefined,
  });
  const digests = { places: ['calculations'], topics: ['arn'] };
  const { digests: sent } = await follow({ places: [], digests }, new AbortController().signal);
  return { mails, warnings, runs: sent.map(({ run }) => run) };
}

/** A store in which the digest of Monday's run was sent, with these later runs. */
async function afterMonday(...runs: readonly (typeof tuesday)[]) {
  const store = createMemoryStore();
  const mark = { version: 1, run: monday.id };
  await store.put(MARK, Buffer.from(JSON.stringify(mark)));
  for (const run of [monday, ...runs]) await publishLines(store, { run });
  return store;
}

const markIn = (store: MemoryStore) => JSON.parse(String(store.objects.get(MARK)));

test('a digest has everything that changed since the previous digest, and is sent once', async () => {
  const store = await afterMonday(tuesday, wednesday);

  const first = await send(store);
  const second = await send(store);

  expect(first.runs).toEqual([wednesday.id]);
  expect(first.mails.map(({ text }) => text.split('\n'))).toEqual([
    expect.arrayContaining([
      `calculations: run ${wednesday.id} was published.`,
      `Nothing has changed since run ${monday.id}.`,
    ]),
  ]);
  expect(second.mails).toEqual([]);
});

test('if the run of the previous digest was removed, the next digest is still sent', async () => {
  const store = await afterMonday(tuesday);
  await store.put(MARK, Buffer.from(JSON.stringify({ version: 1, run: 'removed' })));

  expect((await send(store)).runs).toEqual([tuesday.id]);
});

test('the first digest of a place is about a run of the last day, and not about an older run', async () => {
  const store = createMemoryStore();
  await publishLines(store, { run: tuesday });

  expect(await send(store)).toMatchObject({ runs: [], mails: [] });
  expect(markIn(store)).toMatchObject({ run: tuesday.id });
  await publishLines(store, { run: wednesday });
  expect((await send(store)).runs).toEqual([wednesday.id]);

  const other = createMemoryStore();
  await publishLines(other, { run: wednesday });
  expect((await send(other)).runs).toEqual([wednesday.id]);
});

test('of two concurrent senders, only one sends a digest', async () => {
  const store = await afterMonday(tuesday);

  const both = await Promise.all([send(store), send(store)]);

  expect(both.flatMap(({ mails }) => mails)).toHaveLength(1);
  expect((await send(store)).mails).toEqual([]);
});

test('an unavailable sender is called again indefinitely, and nothing is lost', async () => {
  const store = await afterMonday(tuesday);

  for (let hour = 0; hour < 10; hour += 1)
    await expect(send(store, () => Promise.reject(new Error('unavailable')))).rejects.toThrow('unavailable');

  expect((await send(store)).runs).toEqual([tuesday.id]);
});

test('a process that is killed before it has sent leaves the digest to the next', async () => {
  const store = await afterMonday(tuesday);
  const writing = { ...store, put: () => Promise.reject(new Error('killed')) };

  await expect(send(writing)).rejects.toThrow('killed');

  expect((await send(store)).runs).toEqual([tuesday.id]);
});

test('a damaged run is skipped with a warning, and does not stop later ones', async () => {
  const store = await afterMonday(tuesday);
  await store.put(`calculations/dt=2026-11-17/run=${tuesday.id}/_manifest.json`, Buffer.from('{'));

  expect(await send(store)).toMatchObject({ runs: [], warnings: ['no digest of a damaged run'] });
  await publishLines(store, { run: wednesday });
  expect((await send(store)).runs).toEqual([wednesday.id]);
});

test('an older run that was published by force also gets a digest', async () => {
  const store = await afterMonday(tuesday);
  await send(store);
  await publishLines(store, { run: monday });

  expect((await send(store)).runs).toEqual([monday.id]);
  expect((await send(store)).runs).toEqual([]);
});

import { expect, test } from 'vitest';
import { renewModel } from '../../lib/model/index.ts';
import { findReport, REPORT_KEY, REPORT_PAGE_KEY } from '../../lib/report/stored-report.ts';
import { writeReport } from '../../lib/report/write-report.ts';
import type { Store } from '../../lib/store/store.ts';
import { monday, publishLines, tuesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';

const write = (store: Store, startedAt: number) =>
  writeReport({ store, now: () => startedAt, signal: new AbortController().signal });

async function published() {
  const store = createMemoryStore();
  await publishLines(store, { run: monday, lines: ['{"id":1}'] });
  return store;
}

/** When the page that is stored was begun, by its own word. */
const startOf = (store: MemoryStore) =>
  Number(/"startedAt":(\d+)/.exec(String(store.objects.get(REPORT_PAGE_KEY)?.subarray(-500)))?.[1]);

test('the page is stored, and beside it which runs it shows', async () => {
  const store = await published();

  await write(store, 1_000);

  expect(store.objects.get(REPORT_PAGE_KEY)?.toString()).toMatch(/^<!doctype html>[\s\S]*<\/html>/);
  expect((await findReport(store))?.value).toEqual({
    version: 1,
    writtenAt: 1_000,
    startedAt: 1_000,
    runs: { calculations: monday.id },
    bytes: store.objects.get(REPORT_PAGE_KEY)?.byteLength,
  });
});

test('the model that a report shows is stored: whoever renews it then reads no record', async () => {
  const store = await published();
  await write(store, 1_000);
  const read: string[] = [];
  const watched: Store = {
    ...store,
    get(key, options) {
      read.push(key);
      return store.get(key, options);
    },
  };

  const model = await renewModel({ store: watched, now: () => 2_000, addFault: expect.unreachable });

  expect(model).toMatchObject({
    asOf: '1970-01-01T00:00:01.000Z',
    runs: { calculations: { run: monday.id } },
  });
  expect(read.filter((key) => !key.endsWith('.json'))).toEqual([]);
});

test('a report replaces one that was begun before it, and leaves one that was begun after it', async () => {
  const store = await published();

  expect(await write(store, 1_000)).toMatchObject({ kind: 'written', report: { startedAt: 1_000 } });
  expect(await write(store, 3_000)).toMatchObject({ kind: 'written', report: { startedAt: 3_000 } });
  expect(await write(store, 2_000)).toMatchObject({ kind: 'superseded', report: { startedAt: 3_000 } });
  expect([startOf(store), (await findReport(store))?.value.startedAt]).toEqual([3_000, 3_000]);
});

/** Does something once, before the put of a key. */
function before(store: MemoryStore, key: string, action: () => Promise<unknown>): Store {
  let isDone = false;
  return {
    ...store,
    put: async (given, body, options) => {
      if (given === key && !isDone) {
        isDone = true;
        await action();
      }
      return store.put(given, body, options);
    },
  };
}

test.each([REPORT_PAGE_KEY, REPORT_KEY])(
  'of two writers, the newer one wins both objects, even if it comes while the other stores %s',
  async (key) => {
    const store = await published();
    await write(store, 500);

    const older = before(store, key, async () => {
      await publishLines(store, { run: tuesday });
      await write(store, 2_000);
    });
    await write(older, 1_000);

    expect(startOf(store)).toBe(2_000);
    expect((await findReport(store))?.value).toMatchObject({
      startedAt: 2_000,
      runs: { calculations: tuesday.id },
    });
  },
);

test.each([REPORT_PAGE_KEY, REPORT_KEY])(
  'of two writers, the newer one wins both objects, even if the older comes while it stores %s',
  async (key) => {
    const store = await published();

    await write(
      before(store, key, () => write(store, 1_000)),
      2_000,
    );

    expect([startOf(store), (await findReport(store))?.value.startedAt]).toEqual([2_000, 2_000]);
  },
);

test('what a killed writer left unsaid of its page is said by the next, whatever its age', async () => {
  const store = await published();
  const killed = before(store, REPORT_KEY, () => Promise.reject(new Error('killed')));

  await expect(write(killed, 2_000)).rejects.toThrow('killed');
  await write(store, 1_000);

  expect([startOf(store), (await findReport(store))?.value.startedAt]).toEqual([2_000, 2_000]);
});

test('a page that somebody else put there is replaced', async () => {
  const store = await published();
  await store.put(REPORT_PAGE_KEY, Buffer.from('<html></html>'));
  await store.put(REPORT_KEY, Buffer.from('{'));

  await write(store, 1_000);

  expect([startOf(store), (await findReport(store))?.value.startedAt]).toEqual([1_000, 1_000]);
});

import { expect, test } from 'vitest';
import { renewModel } from '../../lib/model/index.ts';
import { writeReport } from '../../lib/report/print-report.ts';
import { findReport, REPORT_KEY, REPORT_PAGE_KEY } from '../../lib/report/stored-report.ts';
import type { Store } from '../../lib/store/store.ts';
import { monday, publishLines, tuesday } from '../snapshot/changes/publish-lines.ts';
import { createMemoryStore } from '../store/memory-store.ts';

const write = (store: Store, startedAt: number, runs = { calculations: monday.id }) =>
  writeReport({ store, now: () => startedAt, signal: new AbortController().signal, runs });

async function published() {
  const store = createMemoryStore();
  await publishLines(store, { run: monday, lines: ['{"id":1}'] });
  return store;
}

test('the page is stored, and beside it a list of the runs that it shows', async () => {
  const store = await published();

  await write(store, 1_000);

  expect(store.objects.get(REPORT_PAGE_KEY)?.toString()).toMatch(/^<!doctype html>[\s\S]*<\/html>/);
  expect((await findReport(store))?.value).toEqual({
    version: 1,
    writtenAt: 1_000,
    runs: { calculations: monday.id },
  });
});

test('the model that a report shows is stored, so that the next renewal of the model reads no record', async () => {
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
  expect(read.filter((key) => !key.startsWith('model/') && !key.endsWith('.json'))).toEqual([]);
});

test('the next writer replaces the page of a writer that was killed, and whatever another process stored there', async () => {
  const store = await published();
  await store.put(REPORT_PAGE_KEY, Buffer.from('<html></html>'));
  await store.put(REPORT_KEY, Buffer.from('{'));
  const put: Store['put'] = (key, ...given) =>
    key === REPORT_KEY ? Promise.reject(new Error('killed')) : store.put(key, ...given);

  await expect(write({ ...store, put }, 1_000)).rejects.toThrow('killed');
  // report/latest.json never names runs that no page shows, so the page is stored first.
  expect(String(store.objects.get(REPORT_PAGE_KEY))).toMatch(/^<!doctype html>/);
  await publishLines(store, { run: tuesday });
  await write(store, 2_000, { calculations: tuesday.id });

  expect((await findReport(store))?.value).toEqual({
    version: 1,
    writtenAt: 2_000,
    runs: { calculations: tuesday.id },
  });
});

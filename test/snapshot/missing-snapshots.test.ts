import { expect, test } from 'vitest';
import { missingSnapshots } from '../../lib/snapshot/missing-snapshots.ts';
import { createMemoryStore, type MemoryStore } from '../store/memory-store.ts';
import { publishedManifest } from './published-manifest.ts';

const HOUR_MS = 3_600_000;
const START_MS = Date.parse('2026-11-16T00:00:00.000Z');

const weekly = { place: 'files.archive', hours: 170 } as const;
const daily = { place: 'calculations', hours: 26 } as const;

/** A store, and `look`, which checks it for missing snapshots a number of hours after the start. */
function startWatch() {
  const store = createMemoryStore();
  const warnings: string[] = [];
  const look = async (afterHours: number, expected: Parameters<typeof missingSnapshots>[0]) => {
    const missing = await missingSnapshots(expected, {
      store,
      now: () => START_MS + afterHours * HOUR_MS,
      warn: ({ message }) => warnings.push(message),
    });
    return missing.map(({ place }) => place);
  };
  return { store, look, warnings };
}

const at = (hours: number) => new Date(START_MS + hours * HOUR_MS).toISOString();

/** Publishes a run that started and finished hours after the start of the test. */
async function publish(store: MemoryStore, place: string, [started, finished]: readonly [number, number]) {
  const run = `run-${started}`;
  const manifest = `${place}/run=${run}/_manifest.json`;
  const times = { startedAt: at(started), finishedAt: at(finished) };
  const content = publishedManifest({ source: place, run, ...times });
  await store.put(manifest, Buffer.from(JSON.stringify(content)));
  await store.put(
    `${place}/latest.json`,
    Buffer.from(JSON.stringify({ run, manifest, startedAt: at(started) })),
  );
}

test('a place is not missing until it has been expected for its whole interval, however often it is checked', async () => {
  const { look } = startWatch();

  expect(await look(0, [weekly, daily])).toEqual([]);
  expect(await look(26, [weekly, daily])).toEqual([]);
  expect(await look(27, [weekly, daily])).toEqual(['calculations']);
  expect(await look(170, [weekly, daily])).toEqual(['calculations']);
  expect(await look(171, [weekly, daily])).toEqual(['files.archive', 'calculations']);
});

test('a weekly run counts as missing to the hour, and no longer once there is another', async () => {
  const { store, look } = startWatch();
  await look(0, [weekly]);

  await publish(store, 'files.archive', [160, 165]);
  const inTime = await look(165 + 170, [weekly]);
  const late = await look(165 + 171, [weekly]);
  await publish(store, 'files.archive', [336, 337]);
  const again = await look(337, [weekly]);

  expect([inTime, late, again]).toEqual([[], ['files.archive'], []]);
});

test('a long run counts from its end, and its manifest is read only if its start does not decide', async () => {
  const { store, look } = startWatch();
  await look(0, [daily]);
  await publish(store, 'calculations', [24, 44]);
  const reads: string[] = [];
  const { get } = store;
  store.get = (key, options) => {
    reads.push(key);
    return get(key, options);
  };

  expect(await look(50, [daily])).toEqual([]);
  expect(reads.filter((key) => key.includes('_manifest'))).toEqual([]);
  expect(await look(69, [daily])).toEqual([]);
  expect(await look(71, [daily])).toEqual(['calculations']);
  expect(reads.filter((key) => key.includes('_manifest'))).toHaveLength(2);
});

test('a place whose interval becomes shorter is not reported as missing immediately', async () => {
  const { store, look } = startWatch();
  await look(0, [weekly]);
  await publish(store, 'files.archive', [1, 1]);
  const sooner = { ...weekly, hours: 26 };

  expect(await look(100, [sooner])).toEqual([]);
  expect(await look(126, [sooner])).toEqual([]);
  expect(await look(127, [sooner])).toEqual(['files.archive']);
});

test('a missing place stays missing when its interval becomes longer, until the longer interval is over', async () => {
  const { look } = startWatch();
  await look(0, [daily]);

  const later = { ...daily, hours: 50 };
  expect(await look(49, [later])).toEqual([]);
  expect(await look(51, [later])).toEqual(['calculations']);
});

test('a place that stops being expected, and then is again, begins anew', async () => {
  const { look } = startWatch();
  await look(0, [daily]);
  await look(100, []);

  expect(await look(200, [daily])).toEqual([]);
  expect(await look(227, [daily])).toEqual(['calculations']);
});

test('the object with the first expected times is rewritten each day, since objects that are not written expire', async () => {
  const { store, look } = startWatch();
  const writes: string[] = [];
  const { put } = store;
  store.put = (key, body, options) => {
    writes.push(key);
    return put(key, body, options);
  };

  for (let hour = 0; hour <= 48; hour += 1) await look(hour, [daily]);

  expect(writes).toEqual(Array(3).fill('work/expected-snapshots.json'));
});

test.each([
  ['latest.json', 'calculations/latest.json', '{"run": 1}'],
  ['the manifest', 'calculations/run=run-24/_manifest.json', '{}'],
  ['the object with the first expected times', 'work/expected-snapshots.json', '['],
])('%s that is damaged is reported, and does not count', async (_, key, content) => {
  const { store, look, warnings } = startWatch();
  await look(0, [daily]);
  await publish(store, 'calculations', [24, 44]);
  await store.put(key, Buffer.from(content));

  const missing = await look(69, [daily]);

  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(key);
  // If `work/expected-snapshots.json` is damaged, the interval starts again. If the others are, nothing shows that a
  // run finished in time.
  expect(missing).toEqual(key.startsWith('work/') ? [] : ['calculations']);
});

test('a run whose times are invalid does not count as a run', async () => {
  const { store, look } = startWatch();
  await look(0, [daily]);
  await publish(store, 'calculations', [40, 41]);
  const latest = { run: 'run-40', manifest: 'calculations/run=run-40/_manifest.json', startedAt: 'soon' };
  await store.put('calculations/latest.json', Buffer.from(JSON.stringify(latest)));
  const manifest = publishedManifest({ run: 'run-40', finishedAt: 'later' });
  await store.put(latest.manifest, Buffer.from(JSON.stringify(manifest)));

  expect(await look(42, [daily])).toEqual(['calculations']);
});

test('the check fails if the store is unavailable, instead of reporting anything', async () => {
  const { store, look } = startWatch();
  store.get = () => Promise.reject(new Error('unavailable'));

  await expect(look(0, [daily])).rejects.toThrow('unavailable');
});

import { beforeEach, expect, test } from 'vitest';
import { createPruneMarks } from '../../../lib/snapshot/history/prune-marks.ts';
import type { Store } from '../../../lib/store/store.ts';
import { beforeEvery, beforeFirst } from '../../store/before.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { monday } from '../publish/finished-run.ts';

const run = { run: monday.id, folder: 'calculations/dt=2026-11-16/run=a/' };
const KEY = `${run.folder}_manifest-pruned.json`;

let store: MemoryStore;
let nowMs: number;

beforeEach(() => {
  store = createMemoryStore();
  nowMs = Date.parse('2026-11-21T09:00:00Z');
});

const marks = (to: Store = store) => createPruneMarks({ store: to, place: 'calculations', now: () => nowMs });

test('a run is taken by one prune, until that has said nothing for five minutes', async () => {
  const [one, other] = [marks(), marks()];

  const taken = [await one.take(run), await other.take(run)];
  nowMs += 299_999;
  taken.push(await other.take(run));
  nowMs += 1;
  taken.push(await other.take(run));

  expect(taken).toEqual([true, false, false, true]);
  expect([await one.isOwn(run), await other.isOwn(run)]).toEqual([false, true]);
  await one.drop(run);
  expect(store.objects.has(KEY)).toBe(true);
  await other.drop(run);
  expect(store.objects.has(KEY)).toBe(false);
});

test('a prune that is at work says so once a minute', async () => {
  const said: number[] = [];
  const one = marks(beforeEvery(store, 'put', () => said.push(nowMs)));
  await one.take(run);
  const fromMs = nowMs;

  for (let seconds = 0; seconds <= 120; seconds += 15) {
    nowMs = fromMs + seconds * 1_000;
    expect(await one.isOwn(run)).toBe(true);
  }

  expect(said.map((ms) => ms - fromMs)).toEqual([0, 60_000, 120_000]);
});

test('one whose clock is set back looks whether it still has its run', async () => {
  const one = marks();
  await one.take(run);
  nowMs -= 3_600_000;
  await marks().take(run);

  expect(await one.isOwn(run)).toBe(false);
});

test('what no prune has taken, it does not have', async () => {
  expect(await marks().isOwn(run)).toBe(false);
});

test.each([
  ['a mark that is damaged', '{'],
  ['that of a clock an hour ahead', '{"atMs":1795255200000}'],
])('%s is nobody’s', async (_, body) => {
  await store.put(KEY, Buffer.from(body));

  expect(await marks().take(run)).toBe(true);
});

test('of two that find an old mark, one takes it', async () => {
  await marks().take(run);
  nowMs += 300_000;
  const racing: Store = {
    ...store,
    get: async (...given) => {
      const stored = await store.get(...given);
      await marks().take(run);
      return stored;
    },
  };

  expect(await marks(racing).take(run)).toBe(false);
});

test('a mark that goes while it is looked at is one that somebody has just dropped', async () => {
  await marks().take(run);
  const racing = beforeFirst(
    store,
    'get',
    () => true,
    () => store.delete(KEY),
  );

  expect(await marks(racing).take(run)).toBe(false);
});

import { describe, expect, test } from 'vitest';
import { openModel, renewModel } from '../../lib/model/index.ts';
import { findModel } from '../../lib/model/open-model.ts';
import { storeAsOf } from '../../lib/report/as-of.ts';
import type { Place, Run } from '../../lib/snapshot/keys.ts';
import type { Store } from '../../lib/store/store.ts';
import { monday, publishLines, tuesday, wednesday } from '../snapshot/changes/publish-lines.ts';
import { storeOfEach } from '../store/store-of-each.ts';
import { link } from './stores.ts';

const store = storeOfEach();

const tuesdayNight: Run = { id: '20261117T210000Z-dddddd', startedAt: '2026-11-17T21:00:00.000Z' };

const publish = (run: Run, records: readonly object[], place: Place = 'calculations') =>
  publishLines(store, { place, run, lines: records.map((record) => JSON.stringify(record)) });

const owned = (id: number, ...dependencies: readonly number[]) => ({
  id,
  owner: 5,
  functionTemplateDependencies: dependencies,
});
const broken = (id: number) => ({ id, owner: 6, links: [link('DATA_SOURCE', 'd', { valid: 'GONE' })] });

const renew = (of: Store = store) => renewModel({ store: of, now: () => Date.parse('2026-11-20T12:00:00Z') });

/** By id, since when the model says that a calculation is unused and broken. */
async function sinceIn(of: Store = store) {
  const { model } = await openModel({ store: of, now: () => Date.parse('2026-11-20T12:00:00Z') });
  const start = (seconds = 0) => (seconds === 0 ? null : new Date(seconds * 1_000).toISOString());
  const entries = Array.from(model.calculations.nodes, (node) => [
    model.things.thingAt(node).id,
    { unused: start(model.since.unused[node]), broken: start(model.since.broken[node]) },
  ]);
  return Object.fromEntries(entries);
}

const rowsIn = (day: string) =>
  (store.objects.get(`model/history/${day}.json`)?.toString() ?? '')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : JSON.parse(line)))
    .filter(({ count }) => count > 0)
    .map(({ flag, owner_id, count }) => `${flag} ${owner_id} ${count}`);

const historyKeys = () => [...store.objects.keys()].filter((key) => key.startsWith('model/history/')).sort();
const history = () => new Map(historyKeys().map((key) => [key, store.objects.get(key)?.toString('base64')]));

test('without a history, every flag (unused, broken) counts from the current run, and a history is started', async () => {
  await publish(monday, [owned(1), owned(2, 1), broken(3)]);

  await renew();

  expect(await sinceIn()).toEqual({
    1: { unused: null, broken: null },
    2: { unused: monday.startedAt, broken: null },
    3: { unused: monday.startedAt, broken: monday.startedAt },
  });
  expect(rowsIn('2026-11-16')).toEqual([
    'broken_links null 1',
    'broken_links 6 1',
    'unused null 2',
    'unused 5 1',
    'unused 6 1',
  ]);
  expect(historyKeys()).toEqual(['model/history/2026-11-16.json', 'model/history/_2026-11-16.packed']);
});

test('a flag that persists has the date of the first run with it, and a new flag has the date of the current run', async () => {
  await publish(monday, [owned(1), broken(3)]);
  await renew();
  await publish(tuesday, [owned(1), broken(3), broken(4)]);

  await renew();

  expect(await sinceIn()).toEqual({
    1: { unused: monday.startedAt, broken: null },
    3: { unused: monday.startedAt, broken: monday.startedAt },
    4: { unused: tuesday.startedAt, broken: tuesday.startedAt },
  });
  const { model } = await openModel({ store, now: Date.now });
  expect(model.days.map(({ day, unused, broken_links }) => [day, unused, broken_links])).toEqual([
    ['2026-11-16', 2, 1],
    ['2026-11-17', 3, 2],
  ]);
});

test('a flag that disappeared and returned has the date of its return', async () => {
  await publish(monday, [owned(1)]);
  await renew();
  await publish(tuesday, [owned(1), owned(2, 1)]);
  await renew();
  await publish(wednesday, [owned(1)]);

  await renew();

  expect(await sinceIn()).toEqual({ 1: { unused: wednesday.startedAt, broken: null } });
});

test('a second model on the same day replaces the first, and a flag that ended with the first stays ended', async () => {
  await publish(monday, [owned(1), owned(7)]);
  await renew();
  await publish(tuesday, [owned(1), owned(2, 1), owned(7)]);
  await renew();
  await publish(tuesdayNight, [owned(1), owned(7)]);

  await renew();

  expect(await sinceIn()).toEqual({
    1: { unused: tuesdayNight.startedAt, broken: null },
    7: { unused: monday.startedAt, broken: null },
  });
  expect(rowsIn('2026-11-17')).toEqual(['unused null 2', 'unused 5 2']);
  expect(historyKeys()).toHaveLength(4);
});

test('a run of files, which use nothing, adds no day to the history', async () => {
  await publish(monday, [{ id: 'f-1', createdBy: 5 }], 'files');

  await renew();

  expect(historyKeys()).toEqual([]);
});

describe('a model that is computed again', () => {
  test.each(['model/latest.json', 'model/packed/'])(
    'because %s is missing is stored with the same content',
    async (lost) => {
      await publish(monday, [owned(1), broken(3)]);
      await renew();
      await publish(tuesday, [owned(1), broken(3)]);
      await renew();
      const [since, before] = [await sinceIn(), history()];
      for (const key of [...store.objects.keys()]) if (key.startsWith(lost)) await store.delete(key);

      await renew();

      expect(await sinceIn()).toEqual(since);
      expect(history()).toEqual(before);
    },
  );

  test.each([1, 2, 3, 4])('after its writer was killed at write %i is the same', async (killedAt) => {
    await publish(monday, [owned(1)]);
    await renew();
    await publish(tuesday, [owned(1), broken(3)]);
    let writes = 0;
    const killed: Store = {
      ...store,
      async put(key, ...rest) {
        // Only writes of the model count; the uses of a part are stored elsewhere.
        if (key.startsWith('model/')) writes += 1;
        if (writes >= killedAt) throw new Error('killed');
        return store.put(key, ...rest);
      },
    };

    await expect(renew(killed)).rejects.toThrow('killed');
    await renew();

    expect(await sinceIn()).toEqual({
      1: { unused: monday.startedAt, broken: null },
      3: { unused: tuesday.startedAt, broken: tuesday.startedAt },
    });
    expect(rowsIn('2026-11-17')).toEqual([
      ...['broken_links null 1', 'broken_links 6 1'],
      ...['unused null 2', 'unused 5 1', 'unused 6 1'],
    ]);
  });

  test('by a writer that began before a newer run does not change that run’s day', async () => {
    await publish(tuesday, [owned(1)]);
    // While the slow writer is between its read and its first write, another one stores a newer run of that day.
    let isFirst = true;
    const slow: Store = {
      ...store,
      async put(key, ...rest) {
        if (isFirst && key.startsWith('model/')) {
          isFirst = false;
          await publish(tuesdayNight, [owned(1), broken(3)]);
          await renew();
        }
        return store.put(key, ...rest);
      },
    };

    await renew(slow);

    expect(rowsIn('2026-11-17')).toContain('unused null 2');
    expect((await findModel(store)).model?.runs['calculations']?.run).toBe(tuesdayNight.id);
    await publish(wednesday, [owned(1), broken(3)]);
    await renew();
    expect(await sinceIn()).toMatchObject({ 3: { broken: tuesdayNight.startedAt } });
  });

  test.each([
    ['that day', tuesday],
    ['a day before', monday],
  ])('because a run of %s was published again does not change the history', async (_, again) => {
    await publish(again, [owned(1)]);
    await renew();
    await publish(tuesdayNight, [owned(1), broken(3)]);
    await renew();
    const before = history();
    await publish(again, [owned(1)]);

    await renew();

    expect(history()).toEqual(before);
    expect(await sinceIn()).toEqual({ 1: { unused: again.startedAt, broken: null } });
  });
});

test('counts stay after their run is removed, and a damaged state is skipped', async () => {
  await publish(monday, [owned(1)]);
  await renew();
  await publish(tuesday, [owned(1), broken(3)]);
  await renew();
  for (const key of [...store.objects.keys()])
    if (key.includes(monday.id) || key.includes('/_2026-11-17.')) await store.delete(key);
  await store.put('model/history/_2026-11-17.packed', Buffer.from('x'));
  await publish(wednesday, [owned(1), broken(3)]);

  await renew();

  expect(rowsIn('2026-11-16')).toEqual(['unused null 1', 'unused 5 1']);
  expect(await sinceIn()).toMatchObject({ 1: { unused: monday.startedAt } });
});

test('a store that is opened as of a morning shows no flag with the date of a later run', async () => {
  await publish(tuesday, [owned(1)]);
  await renew();
  await publish({ id: '20261117T120000Z-eeeeee', startedAt: '2026-11-17T12:00:00.000Z' }, [
    owned(1),
    owned(2, 1),
  ]);
  await renew();
  await publish(tuesdayNight, [owned(1)]);
  await renew();

  const past = await storeAsOf(store, Date.parse('2026-11-17T10:00:00Z'));

  expect(await sinceIn(past)).toEqual({ 1: { unused: tuesday.startedAt, broken: null } });
});

test('as of a day, flags have the dates known at that time', async () => {
  await publish(monday, [owned(1), broken(3)]);
  await renew();
  const then = await sinceIn();
  await publish(tuesday, [owned(1), owned(2, 1)]);
  await renew();
  const before = history();

  const past = await storeAsOf(store, Date.parse('2026-11-16T23:00:00Z'));

  expect(await sinceIn(past)).toEqual(then);
  expect((await openModel({ store: past, now: Date.now })).model.days.map(({ day }) => day)).toEqual([
    '2026-11-16',
  ]);
  expect(history()).toEqual(before);
});

import { beforeEach, describe, expect, test } from 'vitest';
import { latestKey, MANIFEST_NAME, parquetFolder, publishedFolder } from '../../../lib/snapshot/keys.ts';
import { type Manifest, readManifest } from '../../../lib/snapshot/manifest.ts';
import { REPLACED } from '../../../lib/snapshot/publish/run-tag.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { makeTables, type TablesToMake } from '../../../lib/tables/make/make-tables.ts';
import { publishLines } from '../../snapshot/changes/publish-lines.ts';
import { storeRun } from '../../snapshot/changes/stored-run.ts';
import { publishedManifest } from '../../snapshot/published-manifest.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { atEachListed, atEachOperation } from './killed-at.ts';
import { queryFolder } from './parquet-of-folder.ts';

const monday: Run = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
const tuesday: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };
const wednesday: Run = { id: '20261118T090000Z-cccccc', startedAt: '2026-11-18T09:00:00.000Z' };

const manifestKey = (run: Run) => `${publishedFolder('calculations', run)}${MANIFEST_NAME}`;

const linesOf = (...ids: readonly number[]) =>
  ids.map((id) => JSON.stringify({ id, name: `c${id}`, odd: [id] }));

/** Publishes a run as earlier versions did: without Parquet. The lines are in parts of two. */
async function publish(store: Store, run: Run, lines: readonly string[]): Promise<Manifest> {
  const { parts } = await storeRun(store, publishedFolder('calculations', run).slice(0, -1), lines, {
    partRecords: 2,
  });
  const about = { source: 'calculations', run: run.id, startedAt: run.startedAt, records: lines.length };
  const manifest = publishedManifest({ ...about, parts });
  await store.put(manifestKey(run), printStored({ ...manifest, ofALaterVersion: 1 }));
  const latest = { run: run.id, manifest: manifestKey(run), startedAt: run.startedAt };
  await store.put(latestKey('calculations'), printStored(latest));
  return manifest;
}

async function make(store: Store, given: Partial<TablesToMake> = {}) {
  const options = { groups: ['calculations'], resultsDays: 90, now: Date.now, isDry: false } as const;
  const making = makeTables({ store, ...options, isOver: () => false, warn: () => undefined, ...given });
  return await Array.fromAsync(making);
}

const idsOf = async (store: Store, run: Run) =>
  (await queryFolder(store, parquetFolder('calculations', run), 'SELECT id FROM parquet ORDER BY id')).map(
    ({ id }) => id,
  );

/** All objects but those under `work/`, by their etags. */
async function published(from: Store): Promise<ReadonlyMap<string, string>> {
  const listed = await Array.fromAsync(from.list(''));
  return new Map(listed.filter(({ key }) => !key.startsWith('work/')).map(({ key, mark }) => [key, mark]));
}

let store: MemoryStore;

beforeEach(() => {
  store = createMemoryStore();
});

describe('published runs without Parquet', () => {
  test('get it, the newest first, and their manifests name it and lose nothing', async () => {
    await publish(store, monday, linesOf(1, 2, 3));
    await publish(store, tuesday, linesOf(1, 2, 4, 5, 6));

    const outcomes = await make(store);

    expect(outcomes).toMatchObject([
      { kind: 'made', group: 'calculations', name: tuesday.id, files: 3, records: 5, other: 5 },
      { kind: 'made', group: 'calculations', name: monday.id, files: 2, records: 3, other: 3 },
    ]);
    expect(await idsOf(store, monday)).toEqual(['1', '2', '3']);
    expect(await idsOf(store, tuesday)).toEqual(['1', '2', '4', '5', '6']);
    const { parquet } = await readManifest(store, manifestKey(monday));
    expect(parquet).toMatchObject({ other: 3, parts: [{ records: 2 }, { records: 1 }] });
    expect(JSON.parse(String(store.objects.get(manifestKey(monday))))).toMatchObject({ ofALaterVersion: 1 });
    expect(await make(store)).toEqual([]);
  });

  test('have the Parquet of equal parts copied, also from a run that is not the next', async () => {
    await publish(store, monday, linesOf(1, 2, 3));
    await publish(store, tuesday, linesOf(7, 8, 9));
    await publish(store, wednesday, linesOf(1, 2, 4));
    const read: string[] = [];
    const copied: string[] = [];
    const watched: Store = {
      ...store,
      stream: (key, ...given) => {
        read.push(key);
        return store.stream(key, ...given);
      },
      copy: (from, to, ...given) => {
        copied.push(from.slice(0, from.lastIndexOf('/') + 1));
        return store.copy(from, to, ...given);
      },
    };

    await make(watched);

    expect(copied).toEqual([parquetFolder('calculations', wednesday)]);
    expect(read).toHaveLength(5);
    expect(await idsOf(store, monday)).toEqual(['1', '2', '3']);
  });

  test('of which one is damaged: it is skipped with a reason, without any Parquet, and the others are made', async () => {
    await publish(store, monday, linesOf(1));
    const { parts } = await publish(store, tuesday, linesOf(2, 3, 4));
    await publish(store, wednesday, linesOf(5));
    const damaged = parts[1]?.key ?? '';
    await store.put(damaged, Buffer.from('x'));

    const outcomes = await make(store);

    expect(outcomes).toMatchObject([
      { kind: 'made', name: wednesday.id },
      { kind: 'skipped', name: tuesday.id, why: expect.stringContaining(damaged) },
      { kind: 'made', name: monday.id },
    ]);
    expect(await Array.fromAsync(store.list(parquetFolder('calculations', tuesday)))).toEqual([]);
  });

  test('get their partitions before their manifests say that they have Parquet', async () => {
    await publish(store, monday, linesOf(1));
    const added: unknown[] = [];
    const partitions: TablesToMake['partitions'] = {
      async add(place, run, { parquet }) {
        const named = (await readManifest(store, manifestKey(run))).parquet;
        added.push([place, run.id, parquet?.parts.length, named]);
      },
      remove: () => Promise.reject(new Error('removed')),
    };

    await make(store, { partitions });

    expect(added).toEqual([['calculations', monday.id, 1, undefined]]);
  });

  test('of a narrowed snapshot get their partitions, even those that had Parquet before there was a table', async () => {
    await publishLines(store, { place: 'calculations.mine', run: monday, lines: linesOf(1) });
    const added: unknown[] = [];
    const partitions: TablesToMake['partitions'] = {
      add: async (place, run, { parquet }) => void added.push([place, run.id, parquet?.parts.length]),
      remove: () => Promise.reject(new Error('removed')),
    };
    const groups = ['calculations.mine'] as const;
    await make(store, { groups });

    await make(store, { groups, partitions, isDry: true });
    await make(store, { groups, partitions, isSparse: true });
    const before = added.length;

    expect([await make(store, { groups, partitions }), before, added]).toEqual([
      [],
      0,
      [['calculations.mine', monday.id, 1]],
    ]);
  });

  test('are only counted in a dry run', async () => {
    await publish(store, monday, linesOf(1, 2, 3));
    const before = new Map(store.objects);

    expect(await make(store, { isDry: true })).toMatchObject([{ kind: 'made', name: monday.id, files: 2 }]);
    expect(store.objects).toEqual(before);
  });

  test('are continued when the time was over', async () => {
    await publish(store, monday, linesOf(1, 2, 3));

    let asked = 0;
    const isOver = () => {
      asked += 1;
      return asked > 1;
    };
    const first = await make(store, { isOver });
    const second = await make(store);

    expect(first).toMatchObject([{ kind: 'left', name: monday.id }]);
    expect([...store.objects.keys()].filter((key) => key.endsWith('.parquet'))).toHaveLength(2);
    expect(second).toMatchObject([{ kind: 'made', files: 2, records: 3 }]);
  });

  test('that have lost some of their Parquet get it again, and keep the rest', async () => {
    await publish(store, monday, linesOf(1, 2, 3, 4, 5));
    await make(store);
    const before = new Map(store.objects);
    const [first = '', second = '', third = ''] = [...before.keys()].filter((key) =>
      key.endsWith('.parquet'),
    );
    await store.delete(first);
    await store.put(second, Buffer.from('PAR1'));
    const put: string[] = [];
    const watched: Store = {
      ...store,
      put: (key, ...given) => {
        put.push(key);
        return store.put(key, ...given);
      },
    };

    const dry = await make(store, { isDry: true });
    const outcomes = await make(watched);

    expect(dry).toMatchObject([{ kind: 'made', name: monday.id, files: 2 }]);
    expect(outcomes).toMatchObject([{ kind: 'made', name: monday.id, files: 2, records: 4, other: 4 }]);
    expect(store.objects).toEqual(before);
    expect(put).not.toContain(third);
    expect(await make(store)).toEqual([]);
  });

  test('whose Parquet was made in another form get that of today where some is lost, and no row twice', async () => {
    await publish(store, monday, linesOf(1, 2, 3));
    await make(store);
    const { parquet } = await readManifest(store, manifestKey(monday));
    const [lost, other] = parquet?.parts ?? [];
    const renamed = (other?.key ?? '').replace('part-00001-', 'part-00001-0');
    await store.copy(other?.key ?? '', renamed);
    for (const part of [lost, other]) await store.delete(part?.key ?? '');
    const earlier = { ...parquet, format: 'earlier', parts: [lost, { ...other, key: renamed }] };
    const manifest = JSON.parse(String(store.objects.get(manifestKey(monday))));
    await store.put(manifestKey(monday), printStored({ ...manifest, parquet: earlier }));
    for (const key of store.objects.keys()) if (key.startsWith('work/')) await store.delete(key);

    expect(await make(store)).toMatchObject([{ kind: 'made', files: 2 }]);

    expect((await readManifest(store, manifestKey(monday))).parquet).toEqual(parquet);
    expect(await idsOf(store, monday)).toEqual(['1', '2', '3']);
  });

  test('that are deleted meanwhile leave nothing', async () => {
    await publish(store, monday, linesOf(1));
    const removed: string[] = [];
    const partitions: TablesToMake['partitions'] = {
      async add() {
        for (const key of [...store.objects.keys()])
          if (key.startsWith('calculations/')) store.objects.delete(key);
      },
      async remove(_, { id }) {
        removed.push(id);
      },
    };

    expect(await make(store, { partitions })).toEqual([]);
    expect([...store.objects.keys()].filter((key) => !key.startsWith('work/'))).toEqual([]);
    expect(removed).toEqual([monday.id]);
  });

  test('whose manifest is replaced meanwhile: it has both changes', async () => {
    await publish(store, monday, linesOf(1));
    const slow: Store = {
      ...store,
      async put(key, body, given) {
        if (key === manifestKey(monday) && !String(store.objects.get(key)).includes('"note"')) {
          const there = JSON.parse(String(store.objects.get(key)));
          await store.put(key, printStored({ ...there, note: 1 }));
        }
        return store.put(key, body, given);
      },
    };

    await make(slow);

    expect(JSON.parse(String(store.objects.get(manifestKey(monday))))).toMatchObject({
      note: 1,
      parquet: {},
    });
  });

  test.each([
    ['', async () => undefined],
    [
      ' that has lost some',
      async (fresh: Store) => {
        await make(fresh);
        const listed = await Array.fromAsync(fresh.list(parquetFolder('calculations', monday)));
        await fresh.delete(listed[0]?.key ?? '');
      },
    ],
  ])('are whole wherever the command is killed, once it has run again%s', async (_name, begun) => {
    const begin = async () => {
      const fresh = createMemoryStore();
      await publish(fresh, monday, linesOf(1, 2, 3));
      await publish(fresh, tuesday, linesOf(1, 2));
      await begun(fresh);
      return fresh;
    };

    const whole = await begin();
    await make(whole);

    const operations = await atEachOperation(begin, make, async (killed, at) => {
      await make(killed);
      expect(await published(killed), at).toEqual(await published(whole));
    });

    expect(operations).toBeGreaterThan(5);
  });

  test('are whole wherever a listing breaks off, once it has run again, and what was there stays', async () => {
    const begin = async () => {
      const fresh = createMemoryStore();
      await publish(fresh, monday, linesOf(1, 2, 3));
      await publish(fresh, tuesday, linesOf(1, 2));
      await make(fresh, { groups: ['calculations'] });
      const listed = await Array.fromAsync(fresh.list(parquetFolder('calculations', monday)));
      await fresh.delete(listed[0]?.key ?? '');
      return fresh;
    };
    const whole = await begin();
    await make(whole);

    const found = await atEachListed(begin, make, async (broken, at) => {
      expect((await idsOf(broken, tuesday)).length, at).toBe(2);
      await make(broken);
      expect(await published(broken), at).toEqual(await published(whole));
    });

    expect(found).toBeGreaterThan(5);
  });

  test('made by two at once, or by one that overtakes another, are as if one had made them', async () => {
    const begin = async () => {
      const fresh = createMemoryStore();
      await publish(fresh, monday, linesOf(1, 2, 3));
      await publish(fresh, tuesday, linesOf(1, 2));
      return fresh;
    };
    const [whole, both, overtaken] = [await begin(), await begin(), await begin()];
    let isFirst = true;
    const slow: Store = {
      ...overtaken,
      async put(key, ...given) {
        if (key.endsWith('.parquet') && isFirst) {
          isFirst = false;
          await make(overtaken);
        }
        return overtaken.put(key, ...given);
      },
    };

    await make(whole);
    await Promise.all([make(both), make(both)]);
    await make(slow);

    expect(await published(both)).toEqual(await published(whole));
    expect(await published(overtaken)).toEqual(await published(whole));
  });
});

describe('where objects have tags', () => {
  /** A store with tags, as those of S3: a copy has them too, and a put replaces them. */
  function withTags(inner: MemoryStore) {
    const tags = new Map<string, string>();
    const tagged: Store = {
      ...inner,
      async put(key, body, given) {
        const put = await inner.put(key, body, given);
        if (put.kind === 'stored') tags.set(key, given?.tag?.value ?? 'none');
        return put;
      },
      async copy(from, to) {
        await inner.copy(from, to);
        tags.set(to, tags.get(from) ?? 'none');
      },
      tagOf: async (key) => (tags.get(key) === 'none' ? undefined : tags.get(key)),
      async tagAll(prefix, { value }) {
        for (const key of inner.objects.keys()) if (key.startsWith(prefix)) tags.set(key, value);
      },
    };
    const expiring = () =>
      [...tags].filter(([key, value]) => value === REPLACED && inner.objects.has(key)).map(([key]) => key);
    return { tagged, expiring };
  }

  test('a run that expires still does, with its manifest and its Parquet, and no other one', async () => {
    const { tagged, expiring } = withTags(store);
    await publish(tagged, monday, linesOf(1, 2));
    await publish(tagged, tuesday, linesOf(1, 2));
    await publish(tagged, wednesday, linesOf(1, 2));
    await tagged.tagAll?.(publishedFolder('calculations', tuesday), { name: 'x', value: REPLACED });

    await make(tagged);

    const folders = [publishedFolder('calculations', tuesday), parquetFolder('calculations', tuesday)];
    const ofTuesday = [...store.objects.keys()].filter((key) =>
      folders.some((folder) => key.startsWith(folder)),
    );
    expect(ofTuesday).toHaveLength(3);
    expect(expiring().sort()).toEqual(ofTuesday.sort());
  });

  test('a run that is replaced meanwhile is tagged as a whole', async () => {
    const { tagged, expiring } = withTags(store);
    await publish(tagged, monday, linesOf(1, 2));
    const partitions: TablesToMake['partitions'] = {
      add: async () => void (await publish(tagged, tuesday, linesOf(1, 2))),
      remove: async () => undefined,
    };

    await make(tagged, { partitions });

    expect(expiring()).toContain(manifestKey(monday));
  });
});

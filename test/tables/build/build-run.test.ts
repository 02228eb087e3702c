import { describe, expect, test } from 'vitest';
import {
  latestKey,
  MANIFEST_NAME,
  parquetFolder,
  publishedFolder,
  type Run,
} from '../../../lib/snapshot/keys.ts';
import type { Manifest } from '../../../lib/snapshot/manifest.ts';
import type { Store } from '../../../lib/store/store.ts';
import { printStored } from '../../../lib/store/stored-json.ts';
import { buildTables, type TablesToBuild } from '../../../lib/tables/build/build-tables.ts';
import {
  monday,
  moveLatest,
  publishLines,
  tuesday,
  wednesday,
} from '../../snapshot/changes/publish-lines.ts';
import { storeRun } from '../../snapshot/changes/stored-run.ts';
import { publishedManifest } from '../../snapshot/published-manifest.ts';
import { beforeEvery, beforeFirst } from '../../store/before.ts';
import { createMemoryStore } from '../../store/memory-store.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { atEachListed, atEachOperation } from './killed-at.ts';
import { queryFolder } from './parquet-of-folder.ts';

const manifestKey = (run: Run) => `${publishedFolder('calculations', run)}${MANIFEST_NAME}`;

const linesOf = (...ids: readonly number[]) =>
  ids.map((id) => JSON.stringify({ id, name: `c${id}`, odd: [id] }));

/** Publishes a run, with two lines in each part. */
async function publish(store: Store, run: Run, lines: readonly string[]): Promise<Manifest> {
  const { parts } = await storeRun(store, publishedFolder('calculations', run).slice(0, -1), lines, {
    partRecords: 2,
  });
  const about = { source: 'calculations', run: run.id, startedAt: run.startedAt, records: lines.length };
  const manifest = publishedManifest({ ...about, parts });
  await store.put(manifestKey(run), printStored(manifest));
  const latest = { run: run.id, manifest: manifestKey(run), startedAt: run.startedAt };
  await moveLatest(store, 'calculations', latest);
  return manifest;
}

async function make(store: Store, given: Partial<TablesToBuild> = {}) {
  const options = { places: ['calculations'] } as const;
  const making = buildTables({ store, ...options, isOver: () => false, warn: () => undefined, ...given });
  return await Array.fromAsync(making);
}

const idsOf = async (store: Store, run: Run) =>
  (await queryFolder(store, parquetFolder('calculations', run), 'SELECT id FROM parquet ORDER BY id')).map(
    ({ id }) => id,
  );

type Partitions = TablesToBuild['partitions'] & {};

/** Partitions that support only `add`. */
const partitionsThat = (add: (...added: Parameters<Partitions['add']>) => unknown): Partitions => ({
  add: async (...added) => void (await add(...added)),
  remove: () => Promise.reject(new Error('removed')),
});

/** The etags of all objects except those under `work/`. */
async function published(from: Store): Promise<ReadonlyMap<string, string>> {
  const listed = await Array.fromAsync(from.list(''));
  return new Map(listed.filter(({ key }) => !key.startsWith('work/')).map(({ key, mark }) => [key, mark]));
}

const store = storeOfEach();

describe('published runs without tables', () => {
  test('get their Parquet and their uses, the newest run first', async () => {
    await publish(store, monday, linesOf(1, 2, 3));
    await publish(store, tuesday, linesOf(1, 2, 4, 5, 6));

    const outcomes = await make(store);

    expect(outcomes).toMatchObject([
      { kind: 'made', group: 'calculations', name: tuesday.id, files: 3, records: 5, other: 5 },
      { kind: 'made', group: 'calculations', name: monday.id, files: 2, records: 3, other: 3 },
    ]);
    expect(await idsOf(store, monday)).toEqual(['1', '2', '3']);
    expect(await idsOf(store, tuesday)).toEqual(['1', '2', '4', '5', '6']);
    const uses = [...store.objects.keys()].filter((key) => key.startsWith('parquet/uses/'));
    expect(uses.map((key) => key.slice(0, key.lastIndexOf('/') + 1))).toEqual([
      ...Array(3).fill(`parquet/uses/${publishedFolder('calculations', tuesday)}`),
      ...Array(2).fill(`parquet/uses/${publishedFolder('calculations', monday)}`),
    ]);
    expect(await make(store)).toEqual([]);
  });

  test('get copies of the Parquet of parts that an adjacent run also has, without those parts being read', async () => {
    await publish(store, monday, linesOf(1, 2, 3));
    await make(store);
    const manifest = await publish(store, tuesday, linesOf(1, 2, 4));
    const read: string[] = [];

    await make(beforeEvery(store, 'stream', (key) => read.push(key)));

    expect(read).toEqual([manifest.parts[1]?.key]);
    expect(await idsOf(store, tuesday)).toEqual(['1', '2', '4']);
    const alone = createMemoryStore();
    await publish(alone, tuesday, linesOf(1, 2, 4));
    await make(alone);
    for (const [key, body] of alone.objects)
      if (!key.startsWith('parquet/runs/') && !key.endsWith('/latest.json'))
        expect(store.objects.get(key), key).toEqual(body);
  });

  test('get no copies of altered Parquet', async () => {
    await publish(store, monday, linesOf(1, 2));
    await make(store);
    const [altered = ''] = [...store.objects.keys()].filter((key) => key.endsWith('part-00000.parquet'));
    await store.put(altered, Buffer.from(String(store.objects.get(altered)).replace('c1', 'c2')));
    await publish(store, tuesday, linesOf(1, 2));

    await make(store, { isSparse: true });

    expect(await idsOf(store, tuesday)).toEqual(['1', '2']);
  });

  test('are built except a damaged one, which is skipped with a reason', async () => {
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
    expect(await make(store, { isSparse: true })).toMatchObject([{ kind: 'skipped', name: tuesday.id }]);
  });

  test('get their partitions only once, after all of their Parquet exists', async () => {
    await publish(store, monday, linesOf(1, 2, 3));
    const added: unknown[] = [];
    const partitions = partitionsThat(async (place, run, { changes }) =>
      added.push([place, run.id, changes, (await idsOf(store, run)).length]),
    );

    await make(store, { partitions });
    await make(store, { partitions });

    expect(added).toEqual([['calculations', monday.id, null, 3]]);
  });

  test('get their partitions later if they were built without a database', async () => {
    await publish(store, monday, linesOf(1));
    await make(store, { isSparse: true });
    const added: string[] = [];
    const partitions = partitionsThat((_, run) => added.push(run.id));

    await make(store, { partitions, isSparse: true });

    expect(added).toEqual([monday.id]);
  });

  test('cost only listings and a read of the list of runs, once everything is recorded as built', async () => {
    await publish(store, monday, linesOf(1));
    await publish(store, tuesday, linesOf(2));
    await make(store);
    const read: string[] = [];

    await make(
      beforeEvery(store, 'get', (key) => read.push(key)),
      { isSparse: true },
    );

    expect(read.toSorted()).toEqual([
      ...Array(3).fill(latestKey('calculations')),
      ...Array(2).fill('parquet/runs/calculations.json'),
    ]);
  });

  test('of a narrowed snapshot get their partitions, even if their Parquet is older than the table', async () => {
    await publishLines(store, { place: 'calculations.mine', run: monday, lines: linesOf(1) });
    const added: unknown[] = [];
    const partitions = partitionsThat((place, run) => added.push([place, run.id]));
    const places = ['calculations.mine'] as const;
    await make(store, { places, partitions });
    added.length = 0;

    await make(store, { places, partitions, isSparse: true });
    const before = added.length;

    expect([await make(store, { places, partitions }), before, added]).toEqual([
      [],
      0,
      [['calculations.mine', monday.id]],
    ]);
  });

  test('are continued by the next call if the time was over', async () => {
    await publish(store, monday, linesOf(1, 2, 3));

    let asked = 0;
    const isOver = () => {
      asked += 1;
      return asked > 1;
    };
    const first = await make(store, { isOver });
    const second = await make(store);

    expect(first).toMatchObject([
      { kind: 'made', files: 1 },
      { kind: 'left', name: monday.id },
    ]);
    expect([...store.objects.keys()].filter((key) => /\.(?:parquet|packed)$/.test(key))).toHaveLength(4);
    expect(second).toMatchObject([{ kind: 'made', files: 1, records: 1 }]);
  });

  test('get lost Parquet again, and keep the rest', async () => {
    await publish(store, monday, linesOf(1, 2, 3, 4, 5));
    await make(store);
    const whole = new Map(store.objects);
    const [first = '', second = '', third = ''] = [...whole.keys()].filter(
      (key) => key.startsWith(parquetFolder('calculations', monday)) && key.endsWith('.parquet'),
    );
    await store.delete(first);
    await store.put(second, Buffer.from('PAR1'));
    const put: string[] = [];

    const outcomes = await make(beforeEvery(store, 'put', (key) => put.push(key)));

    expect(outcomes).toMatchObject([{ kind: 'made', name: monday.id, files: 2, records: 4, other: 4 }]);
    expect(store.objects).toEqual(whole);
    expect(put).not.toContain(third);
    expect(await make(store)).toEqual([]);
  });

  const folderOfMonday = parquetFolder('calculations', monday);

  /** Removes the built objects for which `isLost` returns true. */
  const lose = async (isLost: (key: string) => boolean) => {
    for (const key of [...store.objects.keys()].filter(isLost)) await store.delete(key);
  };

  test.each([
    ['have lost a file', () => lose((key) => key === `${folderOfMonday}part-00001.parquet`), true, 1],
    ['have lost their uses', () => lose((key) => key.startsWith('parquet/uses/')), false, 2],
    [
      'were made in another form',
      async () => {
        const made = JSON.parse(String(store.objects.get(`${folderOfMonday}_made.json`)));
        for (const file of made.files) file.of = `earlier ${file.of}`;
        await store.put(`${folderOfMonday}_made.json`, printStored(made));
        await lose((key) => key.startsWith(`${folderOfMonday}_tables`));
      },
      true,
      2,
    ],
  ])(
    'that %s get their tables again although they are recorded as built, and no row is there twice',
    async (_, spoil, isSparse, files) => {
      await publish(store, monday, linesOf(1, 2, 3));
      await make(store);
      const whole = await published(store);
      await spoil();

      expect(await make(store, { isSparse })).toMatchObject([{ kind: 'made', files }]);

      expect(await published(store)).toEqual(whole);
      expect(await idsOf(store, monday)).toEqual(['1', '2', '3']);
    },
  );

  test('that are deleted meanwhile leave nothing', async () => {
    await publish(store, monday, linesOf(1));
    const removed: string[] = [];
    const partitions: TablesToBuild['partitions'] = {
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

  /** A store with two published runs. */
  const publishedTwo = async () => {
    const fresh = createMemoryStore();
    await publish(fresh, monday, linesOf(1, 2, 3));
    await publish(fresh, tuesday, linesOf(1, 2));
    return fresh;
  };

  /** A store with two runs, of which the first has lost some of its Parquet. */
  const withALoss = async () => {
    const fresh = await publishedTwo();
    await make(fresh);
    const listed = await Array.fromAsync(fresh.list(parquetFolder('calculations', monday)));
    await fresh.delete(listed[0]?.key ?? '');
    return fresh;
  };

  test.each([
    ['', publishedTwo],
    [
      ' beside one that has its own',
      async () => {
        const fresh = createMemoryStore();
        await publish(fresh, monday, linesOf(1, 2, 3));
        await make(fresh);
        await publish(fresh, tuesday, linesOf(1, 2));
        return fresh;
      },
    ],
    [' that has lost some', withALoss],
  ])('are complete once the command has run again, wherever it was killed%s', async (_name, begin) => {
    const whole = await begin();
    await make(whole);

    const operations = await atEachOperation(begin, make, async (killed, at) => {
      await make(killed);
      expect(await published(killed), at).toEqual(await published(whole));
    });

    expect(operations).toBeGreaterThan(5);
  });

  test('are complete once the command has run again, wherever a listing broke off, and existing objects stay', async () => {
    const whole = await withALoss();
    await make(whole);

    const found = await atEachListed(withALoss, make, async (broken, at) => {
      expect((await idsOf(broken, tuesday)).length, at).toBe(2);
      await make(broken);
      expect(await published(broken), at).toEqual(await published(whole));
    });

    expect(found).toBeGreaterThan(5);
  });

  test('get the same objects from two concurrent processes as from one', async () => {
    const [whole, both, overtaken] = [await publishedTwo(), await publishedTwo(), await publishedTwo()];
    const slow = beforeFirst(
      overtaken,
      'put',
      (key) => key.endsWith('.parquet'),
      () => make(overtaken),
    );

    await make(whole);
    await Promise.all([make(both), make(both)]);
    await make(slow);

    expect(await published(both)).toEqual(await published(whole));
    expect(await published(overtaken)).toEqual(await published(whole));
  });
});

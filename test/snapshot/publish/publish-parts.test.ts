import { describe, expect, onTestFinished, test } from 'vitest';
import { publishedFolder } from '../../../lib/snapshot/keys.ts';
import { type PartsToPublish, publishParts } from '../../../lib/snapshot/publish/publish-parts.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { run, storePart, WORK } from './work-parts.ts';

const FOLDER = publishedFolder('calculations', run);
const RECORDS = `${WORK}publish/`;

/** Five parts under `work/`, each of which is published as one. */
async function fiveParts(): Promise<PartsToPublish & { readonly store: MemoryStore }> {
  const store = createMemoryStore();
  const parts = await Promise.all([0, 1, 2, 3, 4].map((at) => storePart(store, at, [[[at], 'part']])));
  return { store, parts, folder: FOLDER, records: RECORDS, series: 1, isOver: () => false };
}

const keysIn = ({ objects }: MemoryStore, prefix: string) =>
  [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();

test('stores the parts in order, and records each', async () => {
  const options = await fiveParts();

  const parts = await publishParts(options);

  expect(parts?.map(({ firstKey }) => firstKey)).toEqual(['0', '1', '2', '3', '4']);
  expect(keysIn(options.store, FOLDER)).toEqual(parts?.map(({ key }) => key));
  expect(keysIn(options.store, RECORDS)).toEqual(
    [0, 1, 2, 3, 4].map((at) => `${RECORDS}part-0000${at}.json`),
  );
});

describe('whoever resumes', () => {
  test('begins after the last part that was recorded, one part a slice', async () => {
    const options = await fiveParts();
    const once = await publishParts(await fiveParts());
    const sliced = { ...options, isOver: () => true };

    const slices = [];
    for (let slice = 0; slice < 5; slice += 1) {
      slices.push(await publishParts(sliced));
      expect(keysIn(options.store, FOLDER)).toHaveLength(slice + 1);
      expect(keysIn(options.store, RECORDS)).toHaveLength(slice + 1);
    }

    expect(slices).toEqual([undefined, undefined, undefined, undefined, undefined]);
    expect(await publishParts(options)).toEqual(once);
  });

  test('stores nothing again', async () => {
    const { store, ...options } = await fiveParts();
    const once = await publishParts({ ...options, store });
    const full = {
      ...store,
      put: async () => {
        throw new Error('expected no put');
      },
    };

    expect(await publishParts({ ...options, store: full })).toEqual(once);
  });

  test('stores a part again that is gone or cut short since it was recorded, and those after it', async () => {
    const options = await fiveParts();
    const once = (await publishParts(options)) ?? [];
    const [, , third, , fifth] = once.map(({ key }) => key);
    const stored: string[] = [];
    const watched: MemoryStore = {
      ...options.store,
      put: async (key, ...put) => {
        if (key.startsWith(FOLDER)) stored.push(key);
        return options.store.put(key, ...put);
      },
    };
    await options.store.put(third ?? '', Buffer.from('cut'));
    await options.store.delete(fifth ?? '');

    expect(await publishParts({ ...options, store: watched })).toEqual(once);

    expect(stored).toEqual(once.slice(2).map(({ key }) => key));
    for (const { key, bytes } of once) expect(options.store.objects.get(key)).toHaveLength(bytes);
  });

  test('refuses recorded parts of another folder or series', async () => {
    const options = await fiveParts();
    await publishParts(options);

    await expect(publishParts({ ...options, folder: 'cards/' })).rejects.toThrow('got one elsewhere');
    await expect(publishParts({ ...options, series: 2 })).rejects.toThrow('expected a part of series 2');
  });
});

test('refuses a run whose recorded parts hold more records than it has', async () => {
  const options = await fiveParts();
  await publishParts(options);

  await expect(publishParts({ ...options, parts: options.parts.slice(0, 4) })).rejects.toThrow(
    'expected 4 records up to it, got 5',
  );
});

test('stores three parts at the same time, and no more', async () => {
  const { store, ...options } = await fiveParts();
  let [underWay, most] = [0, 0];
  const put: MemoryStore['put'] = async (...given) => {
    underWay += 1;
    most = Math.max(most, underWay);
    // Longer than it takes to compose the others.
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    underWay -= 1;
    return store.put(...given);
  };

  await publishParts({ ...options, store: { ...store, put } });

  expect(most).toBe(3);
  expect(underWay).toBe(0);
});

test('a part that cannot be stored ends it, once those under way are stored', async () => {
  const { store, ...options } = await fiveParts();
  let underWay = 0;
  const put: MemoryStore['put'] = async (key, ...given) => {
    underWay += 1;
    try {
      if (key.includes('part-00001')) throw new Error('no room');
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
      return await store.put(key, ...given);
    } finally {
      underWay -= 1;
    }
  };

  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.off('unhandledRejection', listener));

  await expect(publishParts({ ...options, store: { ...store, put } })).rejects.toThrow('no room');

  expect(unhandled).toEqual([]);
  expect(underWay).toBe(0);
  expect(keysIn(store, RECORDS)).not.toContain(`${RECORDS}part-00001.json`);
});

import { expect, onTestFinished, test } from 'vitest';
import { publishedFolder, workFolder } from '../../../lib/snapshot/keys.ts';
import { publishParts } from '../../../lib/snapshot/publish/publish-parts.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { run, storePart } from './work-parts.ts';

type PartsToPublish = Parameters<typeof publishParts>[0];

const WORK = workFolder('calculations', run);
const FOLDER = publishedFolder('calculations', run);

const NAME = 'part-00000-0123456789ab.ndjson.gz';

async function fiveParts(): Promise<PartsToPublish & { readonly store: MemoryStore }> {
  const store = createMemoryStore();
  const parts = await Promise.all([0, 1, 2, 3, 4].map((at) => storePart(store, at, [at])));
  return { store, parts, work: WORK, folder: FOLDER };
}

const keysIn = ({ objects }: MemoryStore, prefix: string) =>
  [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();

test('publishing copies the parts in order, under names in the run’s folder', async () => {
  const options = await fiveParts();

  const parts = await publishParts(options);

  expect(parts?.map(({ firstKey }) => firstKey)).toEqual(['0', '1', '2', '3', '4']);
  expect(keysIn(options.store, FOLDER)).toEqual(parts?.map(({ key }) => key));
  for (const [at, { key }] of (parts ?? []).entries())
    expect(options.store.objects.get(key)).toEqual(options.store.objects.get(options.parts[at]?.key ?? ''));
});

test('a resumed publication copies only the parts again that are missing or cut short', async () => {
  const options = await fiveParts();
  const once = (await publishParts(options)) ?? [];
  const [, , third, , fifth] = once.map(({ key }) => key);
  const copied: string[] = [];
  const watched: MemoryStore = {
    ...options.store,
    copy: async (from, to, ...rest) => {
      copied.push(to);
      return options.store.copy(from, to, ...rest);
    },
  };
  await options.store.put(third ?? '', Buffer.from('cut'));
  await options.store.delete(fifth ?? '');

  expect(await publishParts({ ...options, store: watched })).toEqual(once);

  expect(copied).toEqual([third, fifth]);
  for (const { key, bytes } of once) expect(options.store.objects.get(key)).toHaveLength(bytes);
});

test.each([
  ['missing', (store: MemoryStore, key: string) => store.delete(key)],
  ['of another size', (store: MemoryStore, key: string) => store.put(key, Buffer.from('other'))],
])('a part that is %s is named, and not published', async (_what, damage) => {
  const options = await fiveParts();
  const key = options.parts[1]?.key ?? '';
  await damage(options.store, key);

  await expect(publishParts(options)).rejects.toThrow(key);

  expect(keysIn(options.store, FOLDER)).not.toContainEqual(expect.stringContaining('part-00001'));
});

/** A store whose copies take longer than reading all other parts, and the number of copies in progress. */
function withSlowCopies(store: MemoryStore, failsAt = 'none') {
  const copies = { underWay: 0, max: 0 };
  const copy: MemoryStore['copy'] = async (from, to, ...given) => {
    copies.underWay += 1;
    copies.max = Math.max(copies.max, copies.underWay);
    try {
      if (to.includes(failsAt)) throw new Error('no room');
      for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
      return await store.copy(from, to, ...given);
    } finally {
      copies.underWay -= 1;
    }
  };
  return { store: { ...store, copy }, copies };
}

test('publishing copies three parts concurrently, and no more', async () => {
  const options = await fiveParts();
  const { store, copies } = withSlowCopies(options.store);

  await publishParts({ ...options, store });

  expect(copies).toEqual({ underWay: 0, max: 3 });
});

test('a part that cannot be copied ends publishing, once copies in progress are done', async () => {
  const options = await fiveParts();
  const { store, copies } = withSlowCopies(options.store, 'part-00001');
  const unhandled: unknown[] = [];
  const listener = (reason: unknown) => void unhandled.push(reason);
  process.on('unhandledRejection', listener);
  onTestFinished(() => void process.off('unhandledRejection', listener));

  await expect(publishParts({ ...options, store })).rejects.toThrow('no room');

  expect(unhandled).toEqual([]);
  expect(copies.underWay).toBe(0);
});

test('a run with a part in another folder is refused', async () => {
  const { parts, ...options } = await fiveParts();
  const elsewhere = parts.map((part) => ({ ...part, key: `other/${NAME}` }));

  const refused = publishParts({ ...options, parts: elsewhere });

  await expect(refused).rejects.toThrow(
    `other/${NAME}: expected a part of ${parts[0]?.bytes} bytes, got nothing`,
  );
});

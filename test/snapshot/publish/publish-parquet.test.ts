import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { parquetFolder, publishedFolder } from '../../../lib/snapshot/keys.ts';
import type { Manifest, Part } from '../../../lib/snapshot/manifest.ts';
import { publishParquet } from '../../../lib/snapshot/publish/publish-parquet.ts';
import { StoreError } from '../../../lib/store/error.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createMemoryStore, type MemoryStore } from '../../store/memory-store.ts';
import { queryParquet } from '../../tables/parquet/parquet-rows.ts';
import { publishedManifest } from '../published-manifest.ts';

const monday = { id: '20261116T090000Z-aaaaaa', startedAt: '2026-11-16T09:00:00.000Z' };
const tuesday = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };

let store: MemoryStore;

beforeEach(() => {
  store = createMemoryStore();
});

/** Published parts of a run, each of these lines. */
async function partsOf(run: typeof monday, ...bodies: readonly string[]): Promise<readonly Part[]> {
  const parts: Part[] = [];
  for (const body of bodies) {
    const packed = gzipSync(body);
    const sha256 = createHash('sha256').update(packed).digest('hex');
    const key = `${publishedFolder('calculations', run)}part-0000${parts.length}-${sha256.slice(0, 12)}.ndjson.gz`;
    await store.put(key, packed);
    parts.push({ key, records: 1, bytes: packed.byteLength, sha256, firstKey: '1', lastKey: '1' });
  }
  return parts;
}

type Differences = {
  readonly to?: Store;
  readonly last?: Manifest;
  readonly isOver?: () => boolean;
  readonly series?: number;
};

const publish = (
  run: typeof monday,
  parts: readonly Part[],
  { to = store, last, isOver = () => false, series = 1 }: Differences = {},
) =>
  publishParquet({
    store: to,
    source: 'calculations',
    parts,
    folder: parquetFolder('calculations', run),
    records: `work/calculations/${run.id}/publish/`,
    series,
    last: last && { manifest: last, folder: parquetFolder('calculations', monday) },
    isOver,
  });

/** Monday's publication of the parts with these lines. */
async function published(...bodies: readonly string[]): Promise<Manifest> {
  const parts = await partsOf(monday, ...bodies);
  const parquet = await publish(monday, parts);
  return publishedManifest({ run: monday.id, startedAt: monday.startedAt, parts: [...parts], parquet });
}

/** The keys that something is read from. */
function watched(inner: Store) {
  const read: string[] = [];
  const to: Store = {
    ...inner,
    stream: (key, ...given) => {
      read.push(key);
      return inner.stream(key, ...given);
    },
  };
  return { to, read };
}

const [A, B, C] = ['{"id":1,"more":[1.0]}\n', '{"id":2}\n', '{"id":3,"locked":7}\n'];

describe('the Parquet of a run', () => {
  test('is a file a part, and says how many members do not fit', async () => {
    const parts = await partsOf(monday, A + B, C);

    const parquet = await publish(monday, parts);

    expect(parquet).toMatchObject({
      other: 2,
      parts: [
        { records: 2, other: 1 },
        { records: 1, other: 1 },
      ],
    });
    for (const { key, bytes, sha256 } of parquet?.parts ?? []) {
      const body = store.objects.get(key) ?? Buffer.alloc(0);
      expect(body.byteLength).toBe(bytes);
      expect(createHash('sha256').update(body).digest('hex')).toBe(sha256);
    }
    const [first] = parquet?.parts ?? [];
    expect(first?.key).toBe(
      `${parquetFolder('calculations', monday)}part-00000-${first?.sha256.slice(0, 12)}.parquet`,
    );
    expect(
      await queryParquet(
        store.objects.get(first?.key ?? '') ?? Buffer.alloc(0),
        'SELECT id, locked, _other FROM parquet',
      ),
    ).toEqual([
      { id: '1', locked: null, _other: '{"more":[1.0]}' },
      { id: '2', locked: null, _other: null },
    ]);
  });

  test('is copied for a part that the last run has too, wherever it was there', async () => {
    const last = await published(A, B);
    const { to, read } = watched(store);
    const parts = await partsOf(tuesday, C, A);

    const parquet = await publish(tuesday, parts, { to, last });

    expect(read).toEqual([parts[0]?.key]);
    const [copied] = parquet?.parts.slice(1) ?? [];
    const [original] = last.parquet?.parts ?? [];
    expect(copied).toEqual({ ...original, key: expect.stringContaining(`${tuesday.id}/part-00001-`) });
    expect(store.objects.get(copied?.key ?? '')).toEqual(store.objects.get(original?.key ?? ''));
    expect(parquet?.other).toBe(2);
  });

  test.each([
    ['is gone', (key: string) => store.delete(key)],
    ['is cut short', (key: string) => store.put(key, Buffer.from('PAR1'))],
  ])('is made again if that of the last run %s', async (_what, damage) => {
    const last = await published(A);
    await damage(last.parquet?.parts[0]?.key ?? '');

    const parquet = await publish(tuesday, await partsOf(tuesday, A), { last });

    expect(store.objects.get(parquet?.parts[0]?.key ?? '')?.byteLength).toBe(last.parquet?.parts[0]?.bytes);
  });

  test('is made again if that of the last run vanishes before it is copied', async () => {
    const last = await published(A);
    const copy = () => Promise.reject(new StoreError('copy', { kind: 'missing', what: 'object' }));

    const parquet = await publish(tuesday, await partsOf(tuesday, A), { to: { ...store, copy }, last });

    expect(parquet?.parts).toHaveLength(1);
  });

  test('is made again if the last run was published with other columns', async () => {
    const last = await published(A);
    const { to, read } = watched(store);
    const format = 'of other columns';

    await publish(tuesday, await partsOf(tuesday, A), {
      to,
      last: { ...last, parquet: { other: 0, parts: [], ...last.parquet, format } },
    });

    expect(read).toHaveLength(1);
  });

  test('is made a file a slice, and none twice', async () => {
    const parts = await partsOf(monday, A, B, C);
    const { to, read } = watched(store);

    const slices = [];
    for (let slice = 0; slice < 4; slice += 1)
      slices.push(await publish(monday, parts, { to, isOver: () => true }));

    expect(slices.map((each) => each?.parts.length)).toEqual([undefined, undefined, undefined, 3]);
    expect(read).toEqual(parts.map(({ key }) => key));
  });

  test('that was lost after it was recorded is made again', async () => {
    const parts = await partsOf(monday, A, B);
    const first = await publish(monday, parts);
    await store.delete(first?.parts[1]?.key ?? '');

    const again = await publish(monday, parts);

    expect(again).toEqual(first);
    expect(store.objects.has(first?.parts[1]?.key ?? '')).toBe(true);
  });

  test('in another series has other names', async () => {
    const parts = await partsOf(monday, A);
    await publish(monday, parts);

    const parquet = await publish(monday, parts, { series: 2 });

    expect(parquet?.parts[0]?.key).toMatch(/part-00000-[0-9a-f]{12}-2\.parquet$/);
  });

  test('names the part and the line that is not JSON', async () => {
    const parts = await partsOf(monday, `${B}{"id":\n`);

    await expect(publish(monday, parts)).rejects.toThrow(
      `${parts[0]?.key}, line 2: expected a record as JSON, got`,
    );
  });
});

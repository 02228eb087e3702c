import { createHash } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import { createPartWriter } from '../../../lib/snapshot/run/part-writer.ts';
import { cardsIn } from '../../../lib/snapshot/sources/cards/scan.ts';
import type { Store } from '../../../lib/store/store.ts';
import { storeOfEach } from '../../store/store-of-each.ts';
import { pieceOfLines } from '../batches.ts';
import { simulatedBatch } from '../simulated-platform.ts';

const store = storeOfEach();

const open = () => createPartWriter({ store, folder: 'work/', compression: 'gzip' });

async function close(parts: ReturnType<typeof createPartWriter>, index: number) {
  await parts.end();
  let stored: Part | undefined;
  await parts.storeEnded(index, async (part) => {
    stored = part;
  });
  return stored;
}

const textOf = async (part: Part | undefined) =>
  gunzipSync((await store.get(part?.key ?? ''))?.body ?? Buffer.alloc(0)).toString();

test('a part has its lines, size, sha256, and first and last keys', async () => {
  const parts = open();

  await parts.write(simulatedBatch([1, 2]));
  await parts.write(simulatedBatch([9_007_199_254_740_993n]));
  const part = await close(parts, 3);

  const stored = await store.get(part?.key ?? '');
  const body = stored?.body ?? Buffer.alloc(0);
  const sha256 = createHash('sha256').update(body).digest('hex');
  expect(gunzipSync(body).toString()).toBe('{"id":1}\n{"id":2}\n{"id":9007199254740993}\n');
  expect(part).toEqual({
    key: `work/part-00003-${sha256.slice(0, 12)}.ndjson.gz`,
    records: 3,
    bytes: body.byteLength,
    sha256,
    firstKey: '1',
    lastKey: '9007199254740993',
  });
});

test('after a part is closed the next write opens another', async () => {
  const parts = createPartWriter({ store, folder: 'work/', compression: 'zstd' });

  await parts.write(simulatedBatch([1]));
  const first = await close(parts, 0);
  await parts.write(simulatedBatch([2]));
  const second = await close(parts, 1);

  const bodies = [await store.get(first?.key ?? ''), await store.get(second?.key ?? '')];
  expect(bodies.map((stored) => zstdDecompressSync(stored?.body ?? Buffer.alloc(0)).toString())).toEqual([
    '{"id":1}\n',
    '{"id":2}\n',
  ]);
});

test('a part that could not be stored is stored completely by the next close', async () => {
  let faults = 1;
  const put: Store['put'] = async (...given) => {
    if (faults-- > 0) throw new Error('no room');
    return store.put(...given);
  };
  const parts = createPartWriter({ store: { ...store, put }, folder: 'work/', compression: 'gzip' });

  await parts.write(simulatedBatch([1, 2]));
  await expect(close(parts, 0)).rejects.toThrow('no room');
  const part = await close(parts, 0);

  expect(await textOf(part)).toBe('{"id":1}\n{"id":2}\n');
  expect(await close(parts, 1)).toBeUndefined();
});

test('memory is released once the lines are written, and not before', async () => {
  const parts = open();
  const released: string[] = [];
  /** A piece that is overwritten when it is released, so that the part is wrong if its bytes are still needed. */
  const piece = (id: number) => {
    const lines = Buffer.from(`{"id":${id}}\n`);
    const release = () => {
      released.push(`${id}`);
      lines.fill(0);
    };
    return { ...pieceOfLines([String(id)], lines), release };
  };
  const batch = (...ids: readonly number[]) => ({
    ...simulatedBatch(ids),
    pieces: () => ids.map(piece),
    release: () => void released.push(`batch of ${ids.join(' and ')}`),
  });

  for (const ids of [[1, 2], [3]]) await parts.write(batch(...ids));
  const part = await close(parts, 0);

  expect(await textOf(part)).toBe('{"id":1}\n{"id":2}\n{"id":3}\n');
  expect(released).toEqual(['1', '2', 'batch of 1 and 2', '3', 'batch of 3']);
});

test('a batch of many frames is released only when the last of them is packed', async () => {
  const parts = open();
  const ids = Array.from({ length: 1_000 }, (_, id) => id);
  // Hardly compressible names, so that compression takes a while.
  const names = createHash('shake256', { outputLength: 3_000_000 }).update('names').digest('base64');
  const texts = ids.map((id) => `{"id":${id},"name":"${names.slice(4_000 * id, 4_000 * (id + 1))}"}\n`);
  const lines = Buffer.from(texts.join(''));
  const released = Promise.withResolvers<void>();
  // Overwrites the lines, so that the part is wrong if they are still needed.
  const release = () => {
    lines.fill(0);
    released.resolve();
  };

  const pieces = () => [pieceOfLines(ids.map(String), lines)];
  await parts.write({ ...simulatedBatch(ids), pieces, release });
  await parts.write(simulatedBatch([1_000]));
  const part = await close(parts, 0);
  await released.promise;

  const unpacked = await textOf(part);
  expect(unpacked === `${texts.join('')}{"id":1000}\n`).toBe(true);
});

test('if a batch fails halfway, nothing is stored from then on, since the whole batch is read again', async () => {
  const parts = open();
  const whole = simulatedBatch([2, 3]);
  function* halfOfIt() {
    yield* simulatedBatch([2]).pieces();
    throw new Error('no memory');
  }

  await parts.write(simulatedBatch([1]));
  await expect(parts.write({ ...whole, pieces: halfOfIt })).rejects.toThrow('no memory');

  await expect(close(parts, 0)).rejects.toThrow('no memory');
  expect(await Array.fromAsync(store.list('work/'))).toEqual([]);
  await parts.discard();
  await parts.write(whole);
  expect(await close(parts, 0)).toMatchObject({ records: 2, firstKey: '2', lastKey: '3' });
});

test('a line that is too long is refused, and nothing is stored after it', async () => {
  const parts = createPartWriter({ store, folder: 'work/', compression: 'gzip', maxLineBytes: 2_000_000 });
  const cards = [1, 2, 3].map((id) => ({ id, datasourceId: 'd', x: 'x'.repeat(id * 900_000) }));
  const batch = cardsIn(Buffer.from(JSON.stringify(cards)), 'd');
  const fault = 'record d/3: expected at most 2000000 bytes, got 2700035';

  await parts.write(simulatedBatch([1]));
  await expect(parts.write(batch)).rejects.toThrow(fault);

  await expect(close(parts, 0)).rejects.toThrow(fault);
});

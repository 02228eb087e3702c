import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPartWriter } from '../../lib/snapshot/part-writer.ts';
import { createDirectoryStore } from '../../lib/store/directory.ts';
import type { Store } from '../../lib/store/store.ts';
import { simulatedRecord } from './simulated-platform.ts';

let folder: string;
let store: Store;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parts-'));
  store = createDirectoryStore(folder);
});

afterEach(() => rm(folder, { recursive: true }));

test('a part tells its lines, its size, its sha256 and its first and last key', async () => {
  const parts = createPartWriter({ store, folder: 'work/', compression: 'gzip' });

  await parts.write([simulatedRecord(1), simulatedRecord(2)]);
  await parts.write([simulatedRecord(9_007_199_254_740_993n)]);
  const [part, ...others] = await parts.end();

  const stored = await store.get(part?.key ?? '');
  const body = stored?.body ?? Buffer.alloc(0);
  const sha256 = createHash('sha256').update(body).digest('hex');
  expect(others).toEqual([]);
  expect(gunzipSync(body).toString()).toBe('{"id":1}\n{"id":2}\n{"id":9007199254740993}\n');
  expect(part).toEqual({
    key: `work/part-00000-${sha256.slice(0, 12)}.ndjson.gz`,
    records: 3,
    bytes: body.byteLength,
    sha256,
    firstKey: '1',
    lastKey: '9007199254740993',
  });
});

test('parts are split by their compressed size, between writes, and lose no line', async () => {
  const parts = createPartWriter({ store, folder: 'work/', compression: 'zstd', partBytes: 1 });
  const records = Array.from({ length: 60_000 }, (_, index) => simulatedRecord(index));

  for (let at = 0; at < records.length; at += 20_000) await parts.write(records.slice(at, at + 20_000));
  const written = await parts.end();

  const bodies = await Promise.all(
    written.map(async ({ key }) => (await store.get(key))?.body ?? Buffer.alloc(0)),
  );
  const lines = bodies.map((body) => zstdDecompressSync(body).toString()).join('');
  expect(written.length).toBeGreaterThan(1);
  expect(written.map(({ key }) => key.slice(5, 15))).toEqual(written.map((_, index) => `part-0000${index}`));
  expect(lines.split('\n')).toHaveLength(60_001);
  expect(written.reduce((sum, part) => sum + part.records, 0)).toBe(60_000);
});

test('without records there is no part', async () => {
  const parts = createPartWriter({ store, folder: 'work/', compression: 'gzip' });

  await parts.write([]);

  await expect(parts.end()).resolves.toEqual([]);
});

test('the same records give the same bytes, so that a part made again has the same name', async () => {
  const make = async () => {
    const parts = createPartWriter({ store, folder: 'work/', compression: 'gzip' });
    await parts.write([simulatedRecord(1)]);
    return parts.end();
  };

  const [first, second] = [await make(), await make()];

  expect(first).toEqual(second);
});

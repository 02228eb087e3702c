import { randomBytes } from 'node:crypto';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packFrame } from '../../../lib/snapshot/frames/frame-packer.ts';

test.each([1, 100, 70_000, 1_000_000])('%i incompressible bytes are a complete frame', async (size) => {
  const raw = randomBytes(size);

  const [gzip, zstd] = await Promise.all([packFrame(raw, 'gzip'), packFrame(raw, 'zstd')]);

  expect(gunzipSync(gzip).equals(raw)).toBe(true);
  expect(zstdDecompressSync(zstd).equals(raw)).toBe(true);
});

import { createHash } from 'node:crypto';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { Manifest } from '../../../lib/snapshot/manifest.ts';
import type { Store } from '../../../lib/store/store.ts';

export type StoredRunOptions = {
  /** The number of records in each part. Default: all in one part. */
  readonly partRecords?: number;
  readonly compression?: 'gzip' | 'zstd';
};

/** Stores lines as the parts of a run, and returns the parts as a manifest lists them. */
export async function storeRun(
  store: Store,
  run: string,
  lines: readonly string[],
  { partRecords = Math.max(1, lines.length), compression = 'gzip' }: StoredRunOptions = {},
): Promise<Pick<Manifest, 'parts'>> {
  const parts: Manifest['parts'] = [];
  for (let from = 0; from < lines.length; from += partRecords) {
    const some = lines.slice(from, from + partRecords);
    const text = `${some.join('\n')}\n`;
    const body = compression === 'gzip' ? gzipSync(text) : zstdCompressSync(text);
    const sha256 = createHash('sha256').update(body).digest('hex');
    const suffix = compression === 'gzip' ? 'gz' : 'zst';
    const key = `${run}/part-${String(parts.length).padStart(5, '0')}-${sha256.slice(0, 12)}.ndjson.${suffix}`;
    await store.put(key, body);
    parts.push({ key, records: some.length, bytes: body.byteLength, sha256, firstKey: '', lastKey: '' });
  }
  return { parts };
}

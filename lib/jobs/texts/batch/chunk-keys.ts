import type { ChunkId } from './batch.ts';

function chunkOfKey(key: string, pattern: RegExp): ChunkId | undefined {
  const [, batch, chunk] = pattern.exec(key) ?? [];
  return batch === undefined ? undefined : { batch, chunk: Number(chunk) };
}
/** The chunk that is staged under a key; undefined for another key. */
export const chunkOfStaged = (key: string) => chunkOfKey(key, /^work\/scores\/([^/]+)\/chunk-(\d+)\.json$/);
/** The chunk whose part is under a key; undefined for another key. */
export const chunkOfPart = (key: string) =>
  chunkOfKey(key, /^scores\/([^/]+)\/part-(\d+)-[0-9a-f]{12}\.ndjson\.gz$/);

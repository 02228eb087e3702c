import { idOfSegment } from '../../../store/id-in-key.ts';
import type { ChunkId } from './batch.ts';

function chunkOfKey(key: string, pattern: RegExp): ChunkId | undefined {
  const [, segment, chunk] = pattern.exec(key) ?? [];
  const batch = segment === undefined ? undefined : idOfSegment(segment);
  return batch === undefined ? undefined : { batch, chunk: Number(chunk) };
}
/** The chunk that is staged under a key; undefined for another key. */
export const chunkOfStaged = (key: string) => chunkOfKey(key, /^work\/scores\/([^/]+)\/chunk-(\d+)\.json$/);
/** The chunk whose part is under a key; undefined for another key. */
export const chunkOfPart = (key: string) =>
  chunkOfKey(key, /^scores\/([^/]+)\/part-(\d+)-[0-9a-f]{12}\.ndjson\.gz$/);

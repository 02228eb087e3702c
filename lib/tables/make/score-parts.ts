import { findSummary } from '../../jobs/results/summary.ts';
import { chunkOfPart, SUMMARY_NAME } from '../../jobs/texts/batch/batch.ts';
import type { ListedObject, Store } from '../../store/store.ts';
import { missingObject } from '../../store/stored-json.ts';

/** A part of a batch. */
export type ScorePart = Pick<ListedObject, 'key' | 'sizeBytes'>;

/** The parts of a finished batch, in order. */
export type BatchParts = { readonly parts: readonly ScorePart[] };

/**
 * The parts that the summary of a batch names; undefined if it has none, so is not finished. Once the rows of a batch
 * have expired, forgetting a text replaces a part but not the summary: then the one part of the same chunk counts.
 * `folder` ends in a slash. Throws `StoredObjectError` if a part is gone.
 */
export async function partsOfBatch(store: Store, folder: string): Promise<BatchParts | undefined> {
  const byChunk = new Map<number, ScorePart[]>();
  for await (const { key, sizeBytes } of store.list(folder)) {
    const chunkId = chunkOfPart(key);
    if (chunkId !== undefined)
      byChunk.set(chunkId.chunk, [...(byChunk.get(chunkId.chunk) ?? []), { key, sizeBytes }]);
  }
  const summary = await findSummary(store, `${folder}${SUMMARY_NAME}`);
  if (summary === undefined) return undefined;
  const parts = summary.parts.map(({ key }): ScorePart => {
    const chunk = chunkOfPart(key)?.chunk;
    const listed = byChunk.get(chunk ?? -1) ?? [];
    const found = listed.find((part) => part.key === key) ?? (listed.length === 1 ? listed[0] : undefined);
    if (found === undefined) throw missingObject(store, key, 'a part');
    return found;
  });
  return { parts };
}

import { missingObject, type Store, StoredObjectError } from '../../store/index.ts';
import { checkedBytes } from '../changes/part-chunks.ts';
import { compressionOf, isPartKey, partName } from '../keys.ts';
import type { Part } from '../manifest.ts';

export type PartsToPublish = {
  readonly store: Store;
  /** The run's parts, in order. */
  readonly parts: readonly Part[];
  /** The run's folder under `work/`, where they must lie, and where the published ones go; each ends in a slash. */
  readonly work: string;
  readonly folder: string;
};

/** How many parts are copied at the same time. */
const AT_ONCE = 3;

/**
 * Copies the parts of a run to where it is published, a few at a time, unless they are there, and returns them under their
 * new keys. Throws `StoredObjectError` that names a part that is missing, altered or elsewhere.
 */
export async function publishParts({ store, parts, work, folder }: PartsToPublish): Promise<Part[]> {
  checkPlaces(parts, work);
  const published = parts.map((part, index) => ({
    ...part,
    key: `${folder}${partName(index, part.sha256, compressionOf(part.key))}`,
  }));
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes);
  const left = parts.flatMap((part, index) => {
    const to = published[index];
    return to === undefined || sizes.get(to.key) === to.bytes ? [] : [{ part, to: to.key }];
  });
  for (let from = 0; from < left.length; from += AT_ONCE) {
    const copying = left.slice(from, from + AT_ONCE).map(({ part, to }) => copyPart(store, part, to));
    // Whatever fails, none is under way afterwards.
    await Promise.allSettled(copying);
    await Promise.all(copying);
  }
  return published;
}

/** A checkpoint or a manifest that names a part elsewhere, or one twice, was not written by a run. */
function checkPlaces(parts: readonly Part[], folder: string): void {
  const seen = new Set<string>();
  for (const { key } of parts) {
    const isIn = key.startsWith(folder) && !key.slice(folder.length).includes('/');
    if (!isIn || !isPartKey(key))
      throw new StoredObjectError('invalid', `${key}: expected a part in ${folder}, got one elsewhere`);
    if (seen.has(key))
      throw new StoredObjectError('invalid', `${key}: expected each part once, got it again`);
    seen.add(key);
  }
}

async function copyPart(store: Store, part: Part, to: string): Promise<void> {
  const bytes = await store.stream(part.key);
  if (bytes === undefined) throw missingObject(store, part.key, 'a part');
  for await (const _ of checkedBytes(bytes, part));
  await store.copy(part.key, to);
}

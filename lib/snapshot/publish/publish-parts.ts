import type { Store } from '../../store/store.ts';
import { missingObject } from '../../store/stored-json.ts';
import { checkedBytes } from '../changes/part-chunks.ts';
import { compressionOf, partName } from '../keys.ts';
import type { Part } from '../manifest.ts';

export type PartsToPublish = {
  readonly store: Store;
  /** The run's parts under `work/`, in order. */
  readonly parts: readonly Part[];
  /** Where the published parts go; ends in a slash. */
  readonly folder: string;
  /** See `seriesOf`. */
  readonly series: number;
  /** Asked after each few parts: true ends the slice. */
  readonly isOver: () => boolean;
};

/** How many parts are copied at the same time. */
const AT_ONCE = 3;

/**
 * Copies the parts of a run to where it is published, a few at a time, unless they are there. Returns them under their
 * new keys, or undefined if the slice is over. Throws `StoredObjectError` that names a part that is missing or altered.
 */
export async function publishParts(options: PartsToPublish): Promise<readonly Part[] | undefined> {
  const { store, parts, folder, series, isOver } = options;
  const published = parts.map((part, index) => ({
    ...part,
    key: `${folder}${partName(index, part.sha256, compressionOf(part.key), series)}`,
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
    if (isOver()) return undefined;
  }
  return published;
}

async function copyPart(store: Store, part: Part, to: string): Promise<void> {
  const bytes = await store.stream(part.key);
  if (bytes === undefined) throw missingObject(store, part.key, 'a part');
  for await (const _ of checkedBytes(bytes, part));
  await store.copy(part.key, to);
}

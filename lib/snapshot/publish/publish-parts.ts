import { type Store, StoredObjectError } from '../../store/index.ts';
import { compressionOf, partName } from '../keys.ts';
import type { Part } from '../manifest.ts';
import { missingPart, sizesIn } from './last-publication.ts';

export type PartsToPublish = {
  readonly store: Store;
  readonly parts: readonly Part[];
  /** The run's folder under `work/`, where they must lie, and where the published ones go; each ends in a slash. */
  readonly work: string;
  readonly folder: string;
};

const AT_ONCE = 3;

/** Copies parts that are not there yet. Throws `StoredObjectError` if one is missing, of another size, or elsewhere. */
export async function publishParts({ store, parts, work, folder }: PartsToPublish): Promise<Part[]> {
  const all = parts.map((part, index) => ({
    part,
    to: `${folder}${partName(index, part.sha256, compressionOf(part.key))}`,
  }));
  const there = await sizesIn(store, folder);
  const left = all.filter(({ part, to }) => there.get(to) !== part.bytes);
  const lost = await missingPart(
    store,
    work,
    left.map(({ part }) => part),
  );
  if (lost !== undefined) throw new StoredObjectError('invalid', lost);
  for (let from = 0; from < left.length; from += AT_ONCE) {
    const copying = left.slice(from, from + AT_ONCE).map(({ part, to }) => store.copy(part.key, to));
    // Whatever fails, none is under way afterwards.
    await Promise.allSettled(copying);
    await Promise.all(copying);
  }
  return all.map(({ part, to }) => ({ ...part, key: to }));
}

import { parseStored, type Store, StoredObjectError } from '../../store/index.ts';
import { compressionOf, latestKey, type Place, partName, publishedFolder } from '../keys.ts';
import { type Latest, latestSchema, type Manifest, manifestOf, type Part } from '../manifest.ts';

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

export type LastPublication = {
  /** The etag of `latest.json`; undefined if there is none. */
  readonly etag: string | undefined;
  /** What `latest.json` says, if it can be read. */
  readonly latest: Latest | undefined;
  /** The manifest that it names, if that can be read and all of its parts are there. */
  readonly manifest: Manifest | undefined;
  /** What is missing or damaged, in words; undefined if nothing is. */
  readonly broken: string | undefined;
};

/** Reads what is published at a place now. An object that is missing or damaged is reported, not thrown. */
export async function readLastPublication(store: Store, place: Place): Promise<LastPublication> {
  const key = latestKey(place);
  // Whatever is there can be replaced only by its etag, so it is read even if it is too large.
  const stored = await store.get(key);
  const none = { latest: undefined, manifest: undefined, broken: undefined };
  if (stored === undefined) return { ...none, etag: undefined };
  const { etag } = stored;
  let latest: Latest | undefined;
  try {
    latest = parseStored(key, stored.body, latestSchema);
    const manifest = await manifestOf(store, latest.manifest, { place, run: latest.run });
    const folder = publishedFolder(place, { id: latest.run, startedAt: latest.startedAt });
    return { etag, latest, manifest, broken: await missingPart(store, folder, manifest.parts) };
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    return { ...none, etag, latest, broken: error.message };
  }
}

/** The first of these parts that is not in the folder with its size, in words. */
async function missingPart(
  store: Store,
  folder: string,
  parts: readonly Part[],
): Promise<string | undefined> {
  const sizes = await sizesIn(store, folder);
  const lost = parts.find(({ key, bytes }) => sizes.get(key) !== bytes);
  if (lost === undefined) return undefined;
  const got = sizes.get(lost.key);
  return `${lost.key}: expected a part of ${lost.bytes} bytes, got ${got === undefined ? 'nothing' : `${got} bytes`}`;
}

/** What is in a folder: the sizes of objects by their keys, in bytes. */
async function sizesIn(store: Store, folder: string): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes);
  return sizes;
}

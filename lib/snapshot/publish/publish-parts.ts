import { parseStored, printStored, type Store, StoredObjectError } from '../../store/index.ts';
import {
  compressionOf,
  foldersOf,
  LATEST_AGAIN,
  latestKey,
  type Place,
  partName,
  publishedFolder,
  REPLACED,
  RUN_TAG,
  type Run,
  TAGGED_NAME,
} from '../keys.ts';
import {
  type Latest,
  latestSchema,
  type Manifest,
  manifestOf,
  type Part,
  type PublishedRun,
  readLatest,
} from '../manifest.ts';

const PARALLEL_COPIES = 3;

/**
 * Copies the parts of a run that are not yet in its published folder. Returns all of its parts, with their published
 * keys. Throws `StoredObjectError` if a part is missing, of another size, or in another folder.
 */
export async function publishParts(options: {
  readonly store: Store;
  readonly parts: readonly Part[];
  /**
   * The run's folder under `work/`, where the parts must be. `folder`: the folder to publish them in. Each ends in a
   * slash.
   */
  readonly work: string;
  readonly folder: string;
}): Promise<Part[]> {
  const { store, parts, work, folder } = options;
  const all = parts.map((part, index) => ({
    part,
    to: `${folder}${partName(index, part.sha256, compressionOf(part.key))}`,
  }));
  const publishedSizes = await sizesIn(store, folder);
  const toCopy = all.filter(({ part, to }) => publishedSizes.get(to) !== part.bytes);
  const lost = await missingPart(
    store,
    work,
    toCopy.map(({ part }) => part),
  );
  if (lost !== undefined) throw new StoredObjectError('invalid', lost);
  for (let from = 0; from < toCopy.length; from += PARALLEL_COPIES) {
    const copying = toCopy
      .slice(from, from + PARALLEL_COPIES)
      .map(({ part, to }) => store.copy(part.key, to));
    // If one copy fails, wait for the others before throwing.
    await Promise.allSettled(copying);
    await Promise.all(copying);
  }
  return all.map(({ part, to }) => ({ ...part, key: to }));
}

/** Reads the last publication of a place. If an object is missing or damaged, reports that instead of throwing. */
export async function readLastPublication(
  store: Store,
  place: Place,
): Promise<{
  /** The etag of `latest.json`; undefined if it does not exist. */
  readonly etag: string | undefined;
  /** The parsed `latest.json`; undefined if unreadable. */
  readonly latest: Latest | undefined;
  /** The manifest of the last published run; undefined if it is unreadable. */
  readonly manifest: Manifest | undefined;
  /** What is missing or damaged, in words; undefined if nothing is. */
  readonly broken: string | undefined;
}> {
  const key = latestKey(place);
  // Read without a size limit: even an object that is too large is read, since its etag is needed to replace it.
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

/**
 * A message about the first of these parts that is missing from the folder or has another size there; undefined if all
 * are there.
 */
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

/** The sizes in bytes of the objects in a folder, by their keys. */
async function sizesIn(store: Store, folder: string): Promise<ReadonlyMap<string, number>> {
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(folder)) sizes.set(key, sizeBytes);
  return sizes;
}

type RunToTag = { readonly store: Store; readonly place: Place; readonly run: Run };

/**
 * Tags all objects of a run that was replaced, unless they have the tag; removes the tag from the latest run. Throws
 * `StoreError`.
 */
export async function updateRunTags(
  /**
   * A published run. `known`: its tags as they were read; `isChanged`: whether an object of the run was stored since
   * then.
   */
  options: RunToTag & {
    readonly is: 'latest' | 'replaced';
    readonly known: Pick<PublishedRun, 'isTagged' | 'wasReplaced'>;
    readonly isChanged: boolean;
  },
): Promise<void> {
  const { is, known, isChanged, ...run } = options;
  if (is === 'latest') return known.wasReplaced ? untagLatest(run) : undefined;
  if (!known.isTagged || isChanged) await tagReplaced(run);
}

/** Deletes the mark that all objects of a run are tagged. Call it before storing an object without the tag. */
export const deleteTaggedMark = ({ store, place, run }: RunToTag): Promise<void> =>
  store.delete(`${publishedFolder(place, run)}${TAGGED_NAME}`);

/**
 * Tags all objects of a replaced run, so that the lifecycle rule lets them expire. The mark (`TAGGED_NAME`) is
 * stored last.
 */
async function tagReplaced({ store, place, run }: RunToTag): Promise<void> {
  if (store.tagAll === undefined) return;
  await tagRun({ store, place, run }, REPLACED);
  // The run may have been published again in the meantime.
  if ((await readLatest(store, place))?.run === run.id) return untagLatest({ store, place, run });
  const tag = { name: RUN_TAG, value: REPLACED };
  await store.put(`${publishedFolder(place, run)}${TAGGED_NAME}`, printStored({ run: run.id }), { tag });
}

/** Removes the tags of a run that had been replaced, and is or becomes the newest again. May be repeated. */
export async function untagLatest({ store, place, run }: RunToTag): Promise<void> {
  if (store.tagAll === undefined) return;
  await deleteTaggedMark({ store, place, run });
  await tagRun({ store, place, run }, LATEST_AGAIN);
}

async function tagRun({ store, place, run }: RunToTag, value: string): Promise<void> {
  for (const prefix of foldersOf(publishedFolder(place, run)))
    await store.tagAll?.(prefix, { name: RUN_TAG, value });
}

import { parseStored, type Store, StoredObjectError } from '../../store/index.ts';
import { runKeys } from '../changes/run-keys.ts';
import { latestKey, type Place, publishedFolder } from '../keys.ts';
import {
  type Latest,
  latestSchema,
  type Manifest,
  MOST_LATEST_BYTES,
  manifestOf,
  type Part,
} from '../manifest.ts';
import type { Run } from '../run-id.ts';
import type { Source } from '../sources/sources.ts';

/** What is published at a place now. */
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
    latest = parseStored(key, stored.body, latestSchema, MOST_LATEST_BYTES);
    const manifest = await manifestOf(store, latest.manifest, { place, run: latest.run });
    return {
      etag,
      latest,
      manifest,
      broken: await missingPart(store, place, { id: latest.run, startedAt: latest.startedAt }, manifest),
    };
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    return { ...none, etag, latest, broken: error.message };
  }
}

/** The first of a run's published parts that is not in its folder with the size that its manifest gives, in words. */
export async function missingPart(
  store: Store,
  place: Place,
  run: Run,
  { parts }: Manifest,
): Promise<string | undefined> {
  const sizes = new Map<string, number>();
  for await (const { key, sizeBytes } of store.list(publishedFolder(place, run))) sizes.set(key, sizeBytes);
  const lost = parts.find(({ key, bytes }) => sizes.get(key) !== bytes);
  if (lost === undefined) return undefined;
  const got = sizes.get(lost.key);
  return `${lost.key}: expected a part of ${lost.bytes} bytes, got ${got === undefined ? 'nothing' : `${got} bytes`}`;
}

/**
 * The first of these parts that cannot be read, does not have its sha256, or has a line that is not a record, in words;
 * undefined if all are sound.
 */
export async function damagedPart(
  store: Store,
  source: Source,
  parts: readonly Part[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  for (const part of parts) {
    try {
      for await (const _ of runKeys({ store, source, run: { parts: [part] }, signal }));
    } catch (error) {
      if (error instanceof StoredObjectError) return error.message;
      throw error;
    }
  }
  return undefined;
}

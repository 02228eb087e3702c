import * as z from 'zod/mini';
import { canonicalId } from '../../model/rules/index.ts';
import { type Store, StoredObjectError } from '../../store/index.ts';
import { createRecordFields } from '../changes/line-members.ts';
import { readLines } from '../changes/line-reader.ts';
import { manifestOf, type Part, readLatest, readManifest } from '../manifest.ts';
import { isSamePlatform } from '../platform-host.ts';
import { onceStored } from '../publish/stored-outcome.ts';
import type { Source } from '../sources/sources.ts';

/** A published run whose records link to the ids of another; `manifest` is the key of its manifest. */
export type LinkedRun = { readonly run: string; readonly manifest: string };

export type LinkedRunOptions = {
  readonly store: Store;
  readonly from: Source;
  /** What the ids identify, for messages: `datasets`. */
  readonly field: string;
  /** The platform's host, on which the ids are looked up. */
  readonly platform: string;
};

/**
 * The last published run of a whole source, to take ids from. Throws `StoredObjectError` if none has been published, if
 * it is missing or damaged, or if it was taken from another platform.
 */
export async function linkedRun({ store, from, field, platform }: LinkedRunOptions): Promise<LinkedRun> {
  const latest = await replaceable(from, field, () => readLatest(store, from));
  if (latest === undefined)
    throw new StoredObjectError(
      'missing',
      `${store.location}: expected a published snapshot of ${from} to take ${field} from, got none`,
    );
  const named = { place: from, run: latest.run };
  const manifest = await replaceable(from, field, () => manifestOf(store, latest.manifest, named));
  if (isSamePlatform(manifest.platform, platform)) return { run: latest.run, manifest: latest.manifest };
  const got = `run ${latest.run} of ${manifest.platform}`;
  throw new StoredObjectError(
    'invalid',
    `${store.location}: expected a published snapshot of ${from} of ${platform} to take ${field} from, got ${got}`,
  );
}

export type LinkedIdsOptions = {
  readonly store: Store;
  /** What linkedRun() returned. */
  readonly manifest: string;
  readonly from: Source;
  /** The fields of a record that have the links, and the ids that a record of these links to. */
  readonly fields: readonly string[];
  readonly idsIn: (record: unknown) => readonly string[];
  /** What the ids identify, for messages. */
  readonly field: string;
  /** A folder for the ids found so far, and for nothing else. Ends in a slash. */
  readonly folder: string;
  /** Asked after each part, which takes seconds: true ends the slice. */
  readonly isOver: () => boolean;
  readonly signal?: AbortSignal | undefined;
};

const foundSchema = z.object({ ids: z.array(z.string()) });

/**
 * The ids that a published run links to, each once and sorted as text; undefined if the slice is over before they are
 * all found. The new ids of each part are stored when it has been read, so that the next slice begins with the first
 * part that has not: they depend on the parts alone, whoever reads them. Memory holds the distinct ids. Throws
 * `StoredObjectError` if a part is missing or damaged.
 */
export async function linkedIds(options: LinkedIdsOptions): Promise<readonly string[] | undefined> {
  const { store, from, field, folder, isOver } = options;
  const { parts } = await replaceable(from, field, () => readManifest(store, options.manifest));
  // By the form in which equal ids are equal: of several spellings, the first is sent.
  const known = new Map<string, string>();
  for (const [index, part] of parts.entries()) {
    const key = `${folder}part-${String(index).padStart(5, '0')}.json`;
    const { outcome, isNew } = await onceStored(store, key, foundSchema, () =>
      replaceable(from, field, async () => ({ ids: await newIdsIn(part, known, options) })),
    );
    for (const id of outcome.ids) known.set(canonicalId(id) ?? id, id);
    if (isNew && isOver()) return undefined;
  }
  return [...known.values()].sort();
}

/** The ids that the records of a part link to and that are not known, each once. */
async function newIdsIn(
  part: Part,
  known: ReadonlyMap<string, string>,
  { store, fields, idsIn, signal }: LinkedIdsOptions,
): Promise<string[]> {
  const found = new Map<string, string>();
  const readFields = createRecordFields(fields);
  const reader = readLines({ store, parts: [part], signal });
  try {
    for (let next = reader.next(); typeof next === 'boolean' ? next : await next; next = reader.next())
      for (const id of idsIn(readFields(reader))) {
        const canonical = canonicalId(id) ?? id;
        if (!known.has(canonical) && !found.has(canonical)) found.set(canonical, id);
      }
  } finally {
    await reader.close();
  }
  return [...found.values()];
}

/** Adds to an error for something missing or damaged how it is replaced. */
async function replaceable<T>(from: Source, field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoredObjectError)) throw error;
    const wayOut = `to have ${field} to take from ${from}, publish a new snapshot of ${from} by force, and start again`;
    throw new StoredObjectError('invalid', `${error.message}; ${wayOut}`, { cause: error });
  }
}

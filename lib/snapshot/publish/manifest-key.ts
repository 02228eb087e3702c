import { randomBytes } from 'node:crypto';
import { parseStored, printStored, type Store, StoredObjectError } from '../../store/index.ts';
import {
  isManifestKey,
  isWasLatestKey,
  latestKey,
  MANIFEST_NAME,
  type Place,
  publishedFolder,
  WITHDRAWN_NAME,
  wasLatestKey,
  wasPerhapsLatestKey,
} from '../keys.ts';
import { type Latest, latestSchema, MOST_LATEST_BYTES } from '../manifest.ts';
import type { Run } from '../run-id.ts';

/** True if the run's folder has a manifest, whether or not it was published. */
export const hasManifest = (store: Store, place: Place, run: Run): Promise<boolean> =>
  hasMark(store, publishedFolder(place, run), isManifestKey);

/** Stores a manifest under a key that no other has or had, and returns it: `_manifest.json`, or `_manifest-TOKEN.json`. */
export async function storeManifest(store: Store, place: Place, run: Run, body: Uint8Array): Promise<string> {
  const folder = publishedFolder(place, run);
  const isUsed = (key: string) => isWasLatestKey(key) || key.endsWith(`/${WITHDRAWN_NAME}`);
  for (let isFirst = !(await hasMark(store, folder, isUsed)); ; isFirst = false) {
    const name = isFirst ? MANIFEST_NAME : `_manifest-${randomBytes(4).toString('hex')}.json`;
    const put = await store.put(`${folder}${name}`, body, { condition: { ifAbsent: true } });
    if (put.kind === 'stored') return `${folder}${name}`;
  }
}

/** Deletes a manifest that was never published. First its marks, should it have any (`markLatest`). */
export async function deleteManifest(store: Store, key: string): Promise<void> {
  for (const mark of [wasLatestKey(key), wasPerhapsLatestKey(key)]) await store.delete(mark);
  await withdrawManifest(store, key);
}

/** Deletes a manifest that `latest.json` does not name, and will not. Nobody stores another under its key. */
export async function withdrawManifest(store: Store, key: string): Promise<void> {
  if (key.endsWith(`/${MANIFEST_NAME}`))
    await store.put(key.replace(MANIFEST_NAME, WITHDRAWN_NAME), printStored({ manifest: key }), {
      mayUseReserve: true,
    });
  await store.delete(key);
}

/** True if the run was published, and then another one. */
export const wasLatest = (store: Store, place: Place, run: Run): Promise<boolean> =>
  hasMark(store, publishedFolder(place, run), isWasLatestKey);

async function hasMark(store: Store, folder: string, isMark: (key: string) => boolean): Promise<boolean> {
  for await (const { key } of store.list(`${folder}_manifest`)) if (isMark(key)) return true;
  return false;
}

/** Marks what `latest.json` names before it is moved to `next`; if nobody can read that, every manifest as perhaps that. */
export async function markLatest(
  store: Store,
  place: Place,
  { latest, next }: { readonly latest: Latest | undefined; readonly next: string },
): Promise<void> {
  const keys = latest === undefined ? [] : [latest.manifest];
  if (latest === undefined) for await (const { key } of store.list(`${place}/dt=`)) keys.push(key);
  const markOf = latest === undefined ? wasPerhapsLatestKey : wasLatestKey;
  for (const key of keys)
    if (key !== next && isManifestKey(key) && key.startsWith(`${place}/`))
      await store.put(markOf(key), printStored({ manifest: key }), { condition: { ifAbsent: true } });
}

type AtPlace = { readonly store: Store; readonly place: Place; readonly signal?: AbortSignal | undefined };

const MOST_ROUNDS = 20;

/** More white space than that begins at one again. */
const MOST_SPACES = 1_000;

/** Stores `latest.json` again, so that whoever read it before can no longer move it. Returns what it says. */
export async function refreshLatest({ store, place, signal }: AtPlace): Promise<Latest | undefined> {
  const key = latestKey(place);
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const stored = await store.get(key, { mostBytes: MOST_LATEST_BYTES });
    if (stored === undefined) return undefined;
    const latest = parseStored(key, stored.body, latestSchema, MOST_LATEST_BYTES);
    const text = stored.body.toString().trimEnd();
    // One more than before: the line feed counts too.
    const spaces = (stored.body.byteLength - Buffer.byteLength(text)) % MOST_SPACES;
    const body = Buffer.from(`${text}${' '.repeat(spaces)}\n`);
    const put = await store.put(key, body, {
      condition: { ifMatch: stored.etag },
      signal,
      mayUseReserve: true,
    });
    if (put.kind === 'stored') return latest;
  }
  throw new StoredObjectError('invalid', `${key}: moved by publishers ${MOST_ROUNDS} times in a row`);
}

import { randomBytes } from 'node:crypto';
import type { Store } from '../../store/store.ts';
import { isManifestKey, MANIFEST_NAME, type Place, publishedFolder } from '../keys.ts';
import type { Run } from '../run-id.ts';

/** The manifests in a run's folder: more than one if several processes publish it, or if one was killed meanwhile. */
export async function manifestKeys(store: Store, place: Place, run: Run): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of store.list(publishedFolder(place, run))) if (isManifestKey(key)) keys.push(key);
  return keys;
}

/**
 * Stores the manifest of one publication of a run under a key that no other publication has, and returns the key:
 * `_manifest.json`, or `_manifest-TOKEN.json` if there is one already.
 */
export async function storeManifest(store: Store, place: Place, run: Run, body: Uint8Array): Promise<string> {
  const folder = publishedFolder(place, run);
  for (let name = MANIFEST_NAME; ; name = `_manifest-${randomBytes(4).toString('hex')}.json`) {
    const put = await store.put(`${folder}${name}`, body, { condition: { ifAbsent: true } });
    if (put.kind === 'stored') return `${folder}${name}`;
  }
}

import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { parseJson } from '../../lib/base/json/json.ts';
import type { Manifest } from '../../lib/snapshot/manifest.ts';

/** How a snapshot of calculations compares with the ids that existed the whole time it was taken. */
export type LivedThrough = { readonly lost: number; readonly doubled: number; readonly taken: number };

/** Reads the parts of a snapshot (gzip) in the store's folder, and compares their ids with `lived`. */
export async function compareLivedThrough(
  folder: string,
  parts: Manifest['parts'],
  lived: readonly string[],
): Promise<LivedThrough> {
  const ids = new Set<string>();
  let taken = 0;
  for (const { key } of parts) {
    const lines = createInterface({ input: createReadStream(join(folder, key)).pipe(createGunzip()) });
    for await (const line of lines) {
      taken += 1;
      // Ids go beyond 2^53, where `JSON.parse` would round them.
      ids.add(String((parseJson(line) as { readonly id: string | number | bigint }).id));
    }
  }
  return { lost: lived.filter((id) => !ids.has(id)).length, doubled: taken - ids.size, taken };
}

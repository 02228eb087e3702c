import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { partName, type Run, workFolder } from '../../../lib/snapshot/keys.ts';
import type { Part } from '../../../lib/snapshot/manifest.ts';
import type { Store } from '../../../lib/store/store.ts';

export const run: Run = { id: '20261117T090000Z-bbbbbb', startedAt: '2026-11-17T09:00:00.000Z' };

const WORK = workFolder('calculations', run);

/** Stores a part under `work/` with the records of these ids. */
export async function storePart(store: Store, number: number, ids: readonly number[]): Promise<Part> {
  const body = gzipSync(ids.map((id) => `{"id":${id}}\n`).join(''));
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = `${WORK}${partName(number, sha256, 'gzip')}`;
  await store.put(key, body);
  const keys = { firstKey: `${ids[0]}`, lastKey: `${ids.at(-1)}` };
  return { key, bytes: body.byteLength, sha256, records: ids.length, ...keys };
}

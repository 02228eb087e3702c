import { createHash } from 'node:crypto';
import { parquetFolder, type Run } from '../../../lib/snapshot/keys.ts';
import { manifestOf, readLatest } from '../../../lib/snapshot/manifest.ts';
import { calculations } from '../../../lib/snapshot/sources/calculations/definition.ts';
import type { Store } from '../../../lib/store/store.ts';
import {
  buildParquet,
  fileName,
  parquetIdOf,
  recordBuilt,
  type StoredParquet,
} from '../../../lib/tables/parquet/part-files.ts';
import { publishLines } from '../../snapshot/changes/publish-lines.ts';
import { storeRun } from '../../snapshot/changes/stored-run.ts';

export type PublishedParquet = {
  readonly run: Run;
  readonly lines: readonly string[];
  /** Additional rows in the Parquet, which distinguish it from the part. Default: none. */
  readonly more?: readonly string[];
};

/** Publishes a run of calculations with its Parquet, which it returns. */
export async function publishParquet(
  store: Store,
  { run, lines, more = [] }: PublishedParquet,
): Promise<StoredParquet> {
  const place = 'calculations';
  await publishLines(store, { run, lines });
  const { manifest = '' } = (await readLatest(store, place)) ?? {};
  const [published] = (await manifestOf(store, manifest, { place, run: run.id })).parts;
  const { parts } = await storeRun(store, 'work', [...lines, ...more]);
  const [part] = parts;
  if (part === undefined || published === undefined) throw new Error('expected a part');
  const { body, records, other } = await buildParquet({ store, part }, calculations.columns);
  await store.delete(part.key);
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = `${parquetFolder(place, run)}${fileName(0)}`;
  const bytes = body.byteLength;
  await store.put(key, body);
  await recordBuilt(store, place, run, [
    { of: parquetIdOf(place, published), records, bytes, sha256, other },
  ]);
  return { key, bytes, sha256 };
}

import { createHash } from 'node:crypto';
import { parquetFolder, parquetName } from '../../../lib/snapshot/keys.ts';
import type { ParquetPart } from '../../../lib/snapshot/manifest.ts';
import { makeParquet } from '../../../lib/snapshot/publish/make-parquet.ts';
import type { Run } from '../../../lib/snapshot/run-id.ts';
import { calculationColumns } from '../../../lib/snapshot/sources/calculations/columns.ts';
import type { Store } from '../../../lib/store/store.ts';
import { publishLines } from '../../snapshot/changes/publish-lines.ts';
import { storeRun } from '../../snapshot/changes/stored-run.ts';

export type PublishedParquet = {
  readonly run: Run;
  readonly lines: readonly string[];
  /** Rows that the Parquet has besides, which tell it from the part. Default: none. */
  readonly more?: readonly string[];
};

/** Publishes a run of calculations with its Parquet, which it returns. */
export async function publishParquet(
  store: Store,
  { run, lines, more = [] }: PublishedParquet,
): Promise<ParquetPart> {
  const place = 'calculations';
  const { parts } = await storeRun(store, 'work', [...lines, ...more]);
  const [part] = parts;
  if (part === undefined) throw new Error('expected a part');
  const { body, records, other } = await makeParquet({ store, part }, calculationColumns);
  await store.delete(part.key);
  const sha256 = createHash('sha256').update(body).digest('hex');
  const key = `${parquetFolder(place, run)}${parquetName(0, sha256, 1)}`;
  await store.put(key, body);
  const parquet: ParquetPart = { key, records, bytes: body.byteLength, sha256, other };
  await publishLines(store, { run, lines, manifest: { parquet: { format: 'x', parts: [parquet], other } } });
  return parquet;
}

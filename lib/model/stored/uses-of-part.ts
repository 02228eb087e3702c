import type { Part } from '../../snapshot/manifest.ts';
import type { Store } from '../../store/store.ts';
import { parquetFormat } from '../../tables/parquet/parquet-format.ts';
import { isParquet } from '../columns/read-columns.ts';
import type { StatingSource } from '../rules/index.ts';
import { makeUses, useColumns } from '../uses/make-uses.ts';

/** The key of the uses of a published part. It is in no folder of a table over records. */
export const usesKey = ({ key }: Pick<Part, 'key'>): string =>
  `parquet/uses/${key.replace(/\.ndjson\.[a-z]+$/, '')}-${parquetFormat(useColumns)}.parquet`;

export type UsesToRead = {
  readonly store: Store;
  readonly source: StatingSource;
  readonly part: Part;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The uses of a published part as Parquet: what is stored, or else what its lines state, which is stored then. Throws
 * `StoredObjectError` if the part is missing or damaged.
 */
export async function usesOfPart({ store, source, part, signal }: UsesToRead): Promise<Uint8Array> {
  const key = usesKey(part);
  const stored = await storedParquet(store, key);
  if (stored !== undefined) return stored;
  const { body } = await makeUses(source, { store, part, signal });
  await store.put(key, body, { contentType: PARQUET_TYPE });
  return body;
}

export const PARQUET_TYPE = 'application/vnd.apache.parquet';

/** A Parquet file of the store; undefined if it is lost, or something else. */
export async function storedParquet(
  store: Pick<Store, 'get'>,
  key: string | undefined,
): Promise<Uint8Array | undefined> {
  const stored = key === undefined ? undefined : await store.get(key);
  return stored !== undefined && isParquet(stored.body) ? stored.body : undefined;
}

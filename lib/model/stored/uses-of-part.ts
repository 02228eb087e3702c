import type { Part } from '../../snapshot/manifest.ts';
import { StoreError } from '../../store/error.ts';
import type { Store } from '../../store/store.ts';
import { parquetFormat } from '../../tables/parquet/parquet-schema.ts';
import { isParquet } from '../columns/read-columns.ts';
import type { StatingSource } from '../rules/index.ts';
import type { LinesToRead } from '../uses/each-line.ts';
import { makeUses, useColumns } from '../uses/make-uses.ts';

/** Names what the uses of a part depend on besides the part. */
export const USES_FORMAT = parquetFormat(useColumns);

/** The key of the uses of a published part. It is in no folder of a table over records. */
export const usesKey = ({ key }: Pick<Part, 'key'>): string =>
  `parquet/uses/${key.replace(/\.ndjson\.[a-z]+$/, '')}-${USES_FORMAT}.parquet`;

export type UsesToRead = LinesToRead & {
  readonly store: Store;
  readonly source: StatingSource;
  readonly part: Part;
};

/**
 * The uses of a published part as Parquet: what is stored, or else what its lines state. Throws `StoredObjectError` if the
 * part is missing or damaged, unless `addFault` is there to receive that.
 */
export const usesOfPart = async (options: UsesToRead): Promise<Uint8Array> =>
  (await storedParquet(options.store, usesKey(options.part))) ?? (await storeUses(options));

/** Makes the uses of a part again, and stores them, unless the part is damaged or the store takes nothing. */
export async function storeUses({ source, addFault, ...part }: UsesToRead): Promise<Uint8Array> {
  let isWhole = true;
  const add = (fault: string) => {
    isWhole = false;
    addFault?.(fault);
  };
  const { body } = await makeUses(source, { ...part, addFault: addFault && add });
  if (!isWhole) return body;
  try {
    await part.store.put(usesKey(part.part), body, { contentType: PARQUET_TYPE });
  } catch (error) {
    // Whoever may only read makes them in memory.
    if (!(error instanceof StoreError)) throw error;
  }
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

import { type Place, parquetFolder, sourceOf } from '../../snapshot/keys.ts';
import type { Manifest, Part } from '../../snapshot/manifest.ts';
import { sourceDefinitions } from '../../snapshot/sources/sources.ts';
import type { Store } from '../../store/store.ts';
import { parquetFormat } from '../parquet/parquet-schema.ts';
import { fileName, type MadeFile, readMade } from './made-files.ts';

/** A file of Parquet in the store. */
export type ParquetInStore = { readonly key: string; readonly bytes: number; readonly sha256: string };

/** The same, as it is recorded. */
export type RecordedParquet = ParquetInStore & Pick<MadeFile, 'records' | 'other'>;

/** What the Parquet of a part of a place is made of: it names the bytes, whoever makes them. */
export const madeOf = (place: Place, { sha256 }: Pick<Part, 'sha256'>): string =>
  `${parquetFormat(sourceDefinitions[sourceOf(place)].columns)} ${sha256}`;

/** The Parquet of a run that is recorded, by what it was made of. */
export async function recordedParquet(
  store: Pick<Store, 'get'>,
  place: Place,
  run: { readonly id: string; readonly startedAt: string },
): Promise<ReadonlyMap<string, RecordedParquet>> {
  const folder = parquetFolder(place, run);
  const { files } = await readMade(store, folder);
  const found = new Map<string, RecordedParquet>();
  for (const [index, { of, sha256, ...file }] of files.entries())
    if (sha256 !== null) found.set(of, { key: `${folder}${fileName(index)}`, sha256, ...file });
  return found;
}

/** The Parquet of a run's parts, in their order, as far as it is recorded. */
export async function parquetOfRun(
  store: Pick<Store, 'get'>,
  place: Place,
  { run: id, startedAt, parts }: Pick<Manifest, 'run' | 'startedAt' | 'parts'>,
): Promise<readonly (RecordedParquet | undefined)[]> {
  const found = await recordedParquet(store, place, { id, startedAt });
  return parts.map((part) => found.get(madeOf(place, part)));
}

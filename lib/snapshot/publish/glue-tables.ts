import { createHash } from 'node:crypto';
import { type Place, partsOf } from '../keys.ts';

/**
 * The Glue table over the published runs of a place: `files`, `files_reports`. Its name has no capitals and no `-`, which
 * would have to be quoted in SQL.
 */
export function glueTableOf(place: Place): string {
  const { source, name } = partsOf(place);
  const words = [source, ...(name === undefined ? [] : [name])];
  return words.join('_').replaceAll('-', '_').toLowerCase();
}

/** What the table of a narrowed snapshot is called if another one already has its name. */
export const otherGlueTableOf = (place: Place): string =>
  `${glueTableOf(place)}_${createHash('sha256').update(place).digest('hex').slice(0, 6)}`;

/** How a Glue table of Parquet is read. */
export const PARQUET_SERDE = 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe';

/** The partition keys of those tables: the components of a run's folder, in order. */
export const gluePartitionKeys = ['dt', 'run'] as const;

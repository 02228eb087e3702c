import type { Source } from '../sources/sources.ts';

/** The Glue table over the published runs of a source. Its name has no `-`, which would have to be quoted in SQL. */
export const glueTableOf = (source: Source): string => source.replaceAll('-', '_');

/** How a Glue table of Parquet is read. */
export const PARQUET_SERDE = 'org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe';

/** The partition keys of those tables: the components of a run's folder, in order. */
export const gluePartitionKeys = ['dt', 'run'] as const;

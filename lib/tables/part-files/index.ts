/* The Parquet files of a run's parts: found as they were recorded, or built of the lines. */
export { buildParquet, intactParquet, parquetOfRun } from './part-files.ts';

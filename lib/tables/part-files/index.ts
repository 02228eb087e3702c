/* The Parquet files of a run's parts: found as they were recorded, or built of the lines. */
export { eachLine, makeParquet, parquetOfRun, soundParquet } from './part-files.ts';

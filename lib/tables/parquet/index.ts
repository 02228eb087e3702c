/*
 * Parquet: the types of columns, writing files from values or from JSON lines, the files of a run's parts, and reading
 * columns.
 */
export { parquetFormat } from './hive-type.ts';
export { type ColumnWriter, createColumnFile } from './parquet-writer.ts';
export { buildParquet, intactParquet, parquetOfRun } from './part-files.ts';
export { asText, type RowGroup, rowGroupsOf } from './read-columns.ts';
export { createTexts, memoryOf, numberOfText, SHORT_BYTES } from './texts.ts';

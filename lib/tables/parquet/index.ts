/*
 * Parquet: types of columns, files written from values or from JSON lines, the files of a run's parts, and
 * columns that are read back.
 */
export { parquetFormat } from './hive-type.ts';
export { type ColumnWriter, createColumnFile } from './parquet-writer.ts';
export { buildParquet, intactParquet, parquetOfRun } from './part-files.ts';
export { asText, type RowGroup, rowGroupsOf } from './read-columns.ts';
export { createTexts, memoryOf, numberOfText, SHORT_BYTES } from './texts.ts';

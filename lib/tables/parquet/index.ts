/* Parquet: the types of columns, files written of values or of JSON lines, those of a run's parts, and columns read back. */
export { parquetFormat } from './hive-type.ts';
export { type ColumnWriter, createColumnFile } from './parquet-writer.ts';
export { buildParquet, intactParquet, parquetOfRun } from './part-files.ts';
export { asText, type RowGroup, rowGroupsOf } from './read-columns.ts';
export { memoryOf, noTexts, numberOfText, SHORT_BYTES } from './texts.ts';

/* Parquet: the types of columns, files written of values or of JSON lines, and their columns read back. */
export { parquetFormat } from './hive-type.ts';
export { type ColumnWriter, createColumnFile } from './parquet-writer.ts';
export { asText, type RowGroup, rowGroupsOf } from './read-columns.ts';
export { memoryOf, noTexts, numberOfText, SHORT_BYTES } from './texts.ts';

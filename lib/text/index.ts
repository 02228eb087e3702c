/*
 * Reads and writes texts: lines, CSV and JSON in any encoding, read as streams and written safely for
 * spreadsheets.
 */
export { csvCell, safeCell } from './cells/index.ts';
export {
  type CsvForm,
  type OddRows,
  openTable,
  openTableFile,
  repeatedIn,
} from './csv.ts';
export type { TextLines } from './lines.ts';
export {
  doubtError,
  openText,
  readWholeText,
  surveyText,
  type TextForm,
  type TextOptions,
} from './open-text.ts';
export { notRowsError, TextError } from './text-error.ts';
export {
  type CellOptions,
  type CsvOptions,
  csvHead,
  csvLine,
  csvOutput,
  OUTPUT_ENDINGS,
  type OutputFormat,
  outputFormat,
  replaceFile,
  writeTextFile,
} from './write.ts';

/*
 * The grammar of formulas, and what a formula uses. The parser is large: load this door with a dynamic import where it
 * may not be needed.
 */

export {
  analyzeFormula,
  analyzeParsed,
  checkSum,
  type FormulaAnalysis,
  judgeFormula,
  type ParsedFormula,
  parseFormula,
} from './analyze.ts';
export { quoteColumn } from './grammar.ts';
export type { ColumnTypes, DataType } from './infer-data-type.ts';
export { canonicalFormula, printFormula } from './print.ts';
export type { Expression } from './syntax.ts';
export type { FormulaFault } from './tokens.ts';

/* The grammar of formulas, and what a formula uses. The parser is large: who may not need it loads this late. */

export {
  analyzeFormula,
  type FormulaAnalysis,
  judgeFormula,
  type ParsedFormula,
  parseFormula,
} from './analyze.ts';
export { checkSum } from './checksum.ts';
export { quoteColumn } from './grammar.ts';
export type { ColumnTypes, DataType } from './infer-data-type.ts';
export { printFormula } from './print.ts';
export type { Expression } from './syntax.ts';
export type { FormulaFault } from './tokens.ts';

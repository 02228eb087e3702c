/* The grammar of formulas, and what a formula uses. The parser is large: who may not need it loads this late. */

export { analyzeFormula, type FormulaAnalysis, judgeFormula } from './analyze.ts';
export { checkSum } from './checksum.ts';
export type { ColumnTypes, DataType } from './data-type.ts';
export type { FormulaFault } from './fault.ts';
export { type ParsedFormula, parseFormula } from './parse.ts';
export { printFormula } from './print.ts';
export { quoteColumn } from './quotes.ts';
export type { Expression } from './syntax.ts';

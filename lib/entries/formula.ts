import type { FormulaFault } from '../formula/fault.ts';
import { parseFormula } from '../formula/parse.ts';

/* What `platform-sync/formula` exports: the grammar of formulas, and what a formula uses. Needs no platform. */

export { analyzeFormula, type FormulaAnalysis } from '../formula/analyze.ts';
export { checkSum } from '../formula/checksum.ts';
export type { ColumnTypes, DataType } from '../formula/data-type.ts';
export type { FormulaFault } from '../formula/fault.ts';
export { type ParsedFormula, parseFormula } from '../formula/parse.ts';
export { printFormula } from '../formula/print.ts';
export type { Expression } from '../formula/syntax.ts';

/** What is wrong with a formula, in the order of its text, at most 20 faults: none if it is valid. Never throws. */
export function checkFormula(text: string): readonly FormulaFault[] {
  const parsed = parseFormula(text);
  return parsed.kind === 'failed' ? parsed.faults : [];
}

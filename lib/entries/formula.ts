import { type FormulaFault, parseFormula } from '../formula/index.ts';

/*
 * The exports of `platform-sync/formula`: the grammar of formulas, and what a formula uses. It needs no
 * platform.
 */

export {
  analyzeFormula,
  type ColumnTypes,
  checkSum,
  type DataType,
  type Expression,
  type FormulaAnalysis,
  type FormulaFault,
  type ParsedFormula,
  parseFormula,
  printFormula,
} from '../formula/index.ts';

/**
 * The faults of a formula, in the order of its text, at most 20; empty if it is valid. Never throws.
 *
 * ```ts
 * for (const { line, column, message } of checkFormula('SUM(`Sales`')) console.log(`${line}:${column}: ${message}`);
 * ```
 */
export function checkFormula(text: string): readonly FormulaFault[] {
  const parsed = parseFormula(text);
  return parsed.kind === 'failed' ? parsed.faults : [];
}

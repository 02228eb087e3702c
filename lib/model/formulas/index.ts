/*
 * The formulas whose text is known, from the platform's responses to updates by platform-sync, and from imports.
 */
export {
  type FormulaLogEntry,
  findFormula,
  formulaKeys,
  readFormulaLog,
  storeFormula,
  timeName,
  timeOfEntry,
} from './formula-log.ts';
export { formulaOf } from './formula-uses.ts';
export { type ImportedFormula, storeImport } from './imported-formulas.ts';
export { listFormulas } from './known-formulas.ts';

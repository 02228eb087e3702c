/* The formulas whose text is known: what the platform returned to each of our updates, and what users import. */
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

/* The formulas whose text is known: what the platform returned to each of our updates, and what users import. */
export {
  type FormulaLogEntry,
  findFormula,
  formulaKeys,
  readFormulaLog,
  storeFormula,
  timeOfEntry,
} from './formula-log.ts';
export { type ImportedFormula, storeImport } from './imported-formulas.ts';

/* The formulas whose text is known: what the platform returned to each of our updates, by calculation and time. */
export {
  type FormulaLogEntry,
  findFormula,
  formulaKeys,
  readFormulaLog,
  storeFormula,
  timeOfEntry,
} from './formula-log.ts';

/* The types of jobs, their messages, and how a row of the ledger is read. Every command loads this. */

export { type Allow, allowFault, readAllow } from '../allow.ts';
export { jobTimes } from '../job-times.ts';
export {
  endStates,
  hasEnded,
  INVALID_FORMULA,
  isCancelled,
  isPruned,
  type JobRow,
  jobStates,
  wasExecuted,
} from '../ledger/job-row.ts';
export {
  checkMessage,
  jobId,
  type MessageChecks,
  type UncheckedMessage,
} from '../message/check-message.ts';
export { maxCallsOf } from '../message/message.ts';
export { type Job, type JobType, jobTypes, sampleMessages } from './job-types.ts';
export { runFunction } from './run-function/definition.ts';
export { valueFaults } from './run-function/from-event.ts';
export {
  bulkRequestChecks,
  isBatchName,
  MAX_BATCH_NAME_LENGTH,
  scoringFields,
} from './score/message.ts';
export { readFollowers } from './snapshot/open-snapshots.ts';
export { invalidFormula, updateFormula } from './update-formula/definition.ts';
export { findCalculation, refuseIfChanged } from './update-formula/find-calculation.ts';

type Formulas = typeof import('./run-function/import-formulas.ts');

/** Reads a list of formulas from a file. */
export const readFormulaList = async (...args: Parameters<Formulas['readFormulaList']>) =>
  (await import('./run-function/import-formulas.ts')).readFormulaList(...args);

/** Reads the formulas that a job's function returned. */
export const formulasOfJob = async (...args: Parameters<Formulas['formulasOfJob']>) =>
  (await import('./run-function/import-formulas.ts')).formulasOfJob(...args);

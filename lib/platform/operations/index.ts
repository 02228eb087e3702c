/* The platform's operations as data, and the functions that read their responses. */

import { analyzeSentiment } from './analyze-sentiment.ts';
import { getDataFile } from './get-data-file.ts';
import { listCards } from './list-cards.ts';
import { runFunction } from './run-function.ts';
import { searchCalculations } from './search-calculations.ts';
import { searchFiles } from './search-files.ts';
import { updateFormula } from './update-formula.ts';

export { pathSegment } from '../endpoint.ts';
export {
  type Card,
  type DataFile,
  type FileRecord,
  idIn,
  isNothing,
  isSet,
  oddIn,
  oddMembers,
  type RecordsIn,
  totalIn,
} from '../records.ts';
export { analyzeSentiment, topicName } from './analyze-sentiment.ts';
export { expandNames, getDataFile } from './get-data-file.ts';
export { listCards } from './list-cards.ts';
export { endOfExecution, type FunctionCall, linesIn, runFunction } from './run-function.ts';
export { type CalculationSearch, searchCalculations } from './search-calculations.ts';
export { type FileSearch, hasNoFiles, pageContextOf, searchFiles } from './search-files.ts';
export { isInvalidFormula, updateFormula } from './update-formula.ts';

/** The seven operations of the platform's API that are used here. */
export const endpoints = {
  updateFormula,
  searchCalculations,
  searchFiles,
  listCards,
  runFunction,
  analyzeSentiment,
  getDataFile,
} as const;

/** The name of an operation in events, errors and metrics. */
export type EndpointName = keyof typeof endpoints;

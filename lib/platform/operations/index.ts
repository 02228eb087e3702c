/*
 * The platform's operations as data, the methods that call them, and the functions that read their responses.
 */

export { type EndpointName, endpoints, operations } from '../client.ts';
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
export { dataFileOf, dataFiles, expandNames, getDataFile } from './get-data-file.ts';
export { cards, listCards } from './list-cards.ts';
export { endOfExecution, type FunctionCall, linesIn, runFunction } from './run-function.ts';
export { type CalculationSearch, calculationRows, searchCalculations } from './search-calculations.ts';
export { type FileSearch, fileRows, pageContextOf, searchFiles } from './search-files.ts';
export { isInvalidFormula, updateFormula } from './update-formula.ts';

import type { endpoints } from '../../../platform/endpoints.ts';
import { analyzeSentimentOperation } from './analyze-sentiment.ts';
import { getDataFileOperation } from './get-data-file.ts';
import { listCardsOperation } from './list-cards.ts';
import type { Operation } from './operation.ts';
import { runFunctionOperation } from './run-function.ts';
import { searchCalculationsOperation } from './search-calculations.ts';
import { searchFilesOperation } from './search-files.ts';
import { updateFormulaOperation } from './update-formula.ts';

type Endpoints = typeof endpoints;

/**
 * One operation for each of the client's endpoints, in the order in which they are described. It does not compile if
 * one is missing, has no endpoint, or serves another one.
 */
const table = {
  searchCalculations: searchCalculationsOperation,
  updateFormula: updateFormulaOperation,
  searchFiles: searchFilesOperation,
  listCards: listCardsOperation,
  runFunction: runFunctionOperation,
  analyzeSentiment: analyzeSentimentOperation,
  getDataFile: getDataFileOperation,
} as const satisfies {
  readonly [Name in keyof Endpoints]: {
    readonly endpoint: Pick<Endpoints[Name], keyof Operation['endpoint']>;
  };
};

/** The operations of the contract, each with its handler. */
export const operations: readonly Operation[] = Object.values(table);

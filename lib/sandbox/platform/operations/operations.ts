import { analyzeSentimentOperation } from './analyze-sentiment.ts';
import { getDataFileOperation } from './get-data-file.ts';
import { listCardsOperation } from './list-cards.ts';
import type { Operation } from './operation.ts';
import { runFunctionOperation } from './run-function.ts';
import { searchCalculationsOperation } from './search-calculations.ts';
import { searchFilesOperation } from './search-files.ts';
import { updateFormulaOperation } from './update-formula.ts';

/** The operations of the contract, each with its handler. */
export const operations: readonly Operation[] = [
  searchCalculationsOperation,
  updateFormulaOperation,
  searchFilesOperation,
  listCardsOperation,
  runFunctionOperation,
  analyzeSentimentOperation,
  getDataFileOperation,
];

import { analyzeSentiment } from './analyze-sentiment.ts';
import { getDataFile } from './get-data-file.ts';
import { listCards } from './list-cards.ts';
import { runFunction } from './run-function.ts';
import { searchCalculations } from './search-calculations.ts';
import { searchFiles } from './search-files.ts';
import { updateFormula } from './update-formula.ts';

/** The seven operations of the platform's contract. */
export const endpoints = {
  updateFormula,
  searchCalculations,
  searchFiles,
  listCards,
  runFunction,
  analyzeSentiment,
  getDataFile,
} as const;

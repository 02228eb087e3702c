import { analyzeSentiment } from './operations/analyze-sentiment.ts';
import { getDataFile } from './operations/get-data-file.ts';
import { listCards } from './operations/list-cards.ts';
import { runFunction } from './operations/run-function.ts';
import { searchCalculations } from './operations/search-calculations.ts';
import { searchFiles } from './operations/search-files.ts';
import { updateFormula } from './operations/update-formula.ts';

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

export type EndpointName = keyof typeof endpoints;

export const endpointNames = Object.keys(endpoints) as readonly EndpointName[];

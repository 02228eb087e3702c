/*
 * The rules of the model that need no store: what a record states about other things, the flags of things, the counts
 * of batches, and what can be reached over uses. Every room may use them, and so may the page in a browser.
 */

export { type BatchCounts, batchCounts, countsOf, outcomes, type RowCosts } from './batch-counts.ts';
export { type Adjacency, adjacencyOf, reach } from './closure.ts';
export {
  brokenFlags,
  type DayCounts,
  type Flag,
  flagBits,
  flagMeanings,
  flagsOf,
  IN_SNAPSHOT,
  ownedNames,
  wrongFlags,
} from './flags.ts';
export {
  CANONICAL_DIGITS,
  canonicalId,
  datasetsUsed,
  forEachUse,
  isBroken,
  isInvalid,
  type Kind,
  type LinkedId,
  linkFields,
  lowerCase,
  parseCardName,
  partsOfColumn,
  type Relation,
  relations,
  thing,
} from './record-rules.ts';

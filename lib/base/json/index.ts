/* JSON within limits that keeps every digit: parsed into values, or validated as bytes without parsing. */

export { freeMemory, gatherBytes, gatherInPlace, growing } from './growing.ts';
export {
  canonicalExact,
  canonicalJson,
  holdsMoreValues,
  isDeeperThan,
  JsonLimitError,
  parseExact,
  parseJson,
  parseOwnJson,
  printExact,
  printJson,
  refuseManyValues,
  repairBytes,
} from './json.ts';
export {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  firstItem,
  isFilledText,
  type JsonBytes,
  jsonBytesOf,
  nextItem,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipDeepValue,
  skipName,
  skipSpace,
  skipText,
  skipValue,
  unexpected,
} from './json-bytes.ts';
export { createNumbersByText, createSeenTexts } from './texts-by-hash.ts';

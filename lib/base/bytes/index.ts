/* Bytes that grow, texts by their hash, and a walk over JSON that parses nothing. */

export { freeMemory, type GatheredBytes, gatherBytes, gatherInPlace, growing } from './growing.ts';
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
export { createNumbersByText, createSeenTexts, type SeenTexts } from './texts-by-hash.ts';

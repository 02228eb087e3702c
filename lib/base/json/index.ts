/* JSON within limits, without losing a digit, and schemas of what comes from outside. */

export { canonicalExact, canonicalJson, parseExact, printExact } from './exact-json.ts';
export {
  anyNumberOf,
  anyRecord,
  anyText,
  checkedBy,
  each,
  filledText,
  isoTime,
  type ListOf,
  own,
  pathSegment,
  recordOf,
  slashlessSegment,
  urlText,
  utcTime,
  uuid,
  whole,
  wholeNumber,
  yesOrNo,
} from './inputs.ts';
export {
  holdsMoreValues,
  isDeeperThan,
  JsonLimitError,
  MAX_DEPTH,
  parseJson,
  parseOwnJson,
  printJson,
  refuseManyValues,
  tooDeep,
} from './json.ts';

/* JSON within limits, without losing a digit, and schemas of what comes from outside. */

export {
  anyRecord,
  anyText,
  checkedBy,
  each,
  filledText,
  type ListOf,
  own,
  pathSegment,
  recordOf,
  urlText,
  utcTime,
  uuid,
  whole,
  wholeNumber,
  yesOrNo,
} from './inputs.ts';
export {
  canonicalExact,
  canonicalJson,
  holdsMoreValues,
  isDeeperThan,
  JsonLimitError,
  MAX_DEPTH,
  parseExact,
  parseJson,
  parseOwnJson,
  printExact,
  printJson,
  refuseManyValues,
  tooDeep,
} from './json.ts';

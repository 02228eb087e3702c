export { type BackoffLimits, backoffMs, once, sleep } from './async.ts';
export { type AwsEnvironment, awsClientConfig, lean, queueEndpoint } from './aws/client-config.ts';
export {
  AwsError,
  asAwsError,
  CLOCK_ADVICE,
  entryError,
  isOfDisk,
  isPassing,
  kindOfFault,
  lastingFailure,
  type Part,
  readAwsFault,
  remedyOf,
  ServiceError,
  UNSENT_CODES,
} from './aws/fault.ts';
export {
  createHttpsAgent,
  MAX_IDLE_MS,
  type NetworkEnvironment,
  networkFaults,
  proxyOf,
} from './aws/network.ts';
export { freeMemory, type GatheredBytes, gatherBytes, gatherInPlace, growing } from './bytes/growing.ts';
export { createNumbersByText, createSeenTexts, type SeenTexts } from './bytes/texts-by-hash.ts';
export { canonicalExact, canonicalJson, parseExact, printExact } from './json/exact-json.ts';
export {
  boundedLine,
  errorText,
  faultsOf,
  firstLine,
  type Hide,
  hideUser,
  listed,
  MAX_READ,
  messageOf,
  preview,
  quoted,
  shortened,
  shownJson,
  shownText,
  systemReason,
} from './json/faults.ts';
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
} from './json/inputs.ts';
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
} from './json/json.ts';
export { nearestName } from './json/nearest-name.ts';
export type { MeasureName, ProblemName } from './metric-names.ts';
export { loadPeer, optionalPeers, PeerMissingError } from './optional-peer.ts';
export { createInHand, currentIds, type InHand, traced, withIds } from './traced.ts';

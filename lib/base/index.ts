export { AwsError, asAwsError, entryError } from './aws/aws-error.ts';
export { type AwsEnvironment, awsClientConfig } from './aws/client-config.ts';
export { kindOfFault, readAwsFault, UNSENT_CODES } from './aws/fault.ts';
export { type ProxyEnvironment, proxyEnvironment, proxyFaults } from './aws/proxy-environment.ts';
export { queueEndpoint } from './aws/queue-endpoint.ts';
export { type GatheredBytes, gatherBytes } from './bytes/gathered-bytes.ts';
export { freeMemory, growing } from './bytes/growing.ts';
export { createNumbersByText, createSeenTexts, type SeenTexts } from './bytes/texts-by-hash.ts';
export { checkedBy } from './json/checked-by.ts';
export { canonicalExact, canonicalJson, parseExact, printExact } from './json/exact-json.ts';
export {
  faultsOf,
  firstLine,
  type Hide,
  listed,
  MOST_READ,
  messageOf,
  preview,
  shortened,
} from './json/faults.ts';
export {
  anyNumberOf,
  anyText,
  each,
  filledText,
  isoTime,
  type ListOf,
  pathSegment,
  slashlessSegment,
  urlText,
  utcTime,
  uuid,
  whole,
  wholeNumber,
  yesOrNo,
} from './json/inputs.ts';
export { parseJson, parseOwnJson, printJson } from './json/json.ts';
export {
  holdsMoreValues,
  isDeeperThan,
  JsonLimitError,
  MAX_DEPTH,
  refuseManyValues,
  tooDeep,
} from './json/json-limits.ts';
export { nearestName } from './json/nearest-name.ts';
export { anyRecord, own, recordOf } from './json/record-schema.ts';
export { boundedLine, hideUser, quoted, shownJson, shownText } from './json/shown.ts';
export type { MeasureName, ProblemName } from './metric-names.ts';
export { once } from './once.ts';
export { loadPeer, optionalPeers, PeerMissingError } from './optional-peer.ts';
export { systemReason } from './system-reason.ts';
export { type BackoffLimits, backoffMs } from './time/backoff.ts';
export { createInHand, type InHand } from './time/in-hand.ts';
export { sleep } from './time/sleep.ts';
export { currentIds, traced, withIds } from './traced.ts';

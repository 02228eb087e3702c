/* What every room stands on: time, errors in words, and what is loaded when it is needed. */

export { type BackoffLimits, backoffMs, once, sleep } from './async.ts';
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
export { nearestName } from './json/nearest-name.ts';
export {
  METRIC_NAMESPACE,
  type MeasureName,
  measureNames,
  type ProblemName,
  problemNames,
} from './metric-names.ts';
export { loadPeer, PeerMissingError } from './optional-peer.ts';
export { type ReadAheadOptions, readAhead } from './read-ahead.ts';
export { retryUntil } from './retry.ts';
export { createInHand, currentIds, type InHand, traced, withIds } from './traced.ts';

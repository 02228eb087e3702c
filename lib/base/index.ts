/* What every room stands on: time, errors in words, and what is loaded when it is needed. */

export {
  type BackoffLimits,
  backoffMs,
  once,
  type ReadAheadOptions,
  readAhead,
  sleep,
} from './async.ts';
export {
  errorText,
  faultsOf,
  firstLine,
  type Hide,
  hideUser,
  listed,
  MAX_READ,
  messageOf,
  nearestName,
  preview,
  quoted,
  shortened,
  shownJson,
  shownText,
  systemReason,
} from './json/faults.ts';
export {
  METRIC_NAMESPACE,
  type MeasureName,
  measureNames,
  type ProblemName,
  problemNames,
} from './metric-names.ts';
export { loadPeer, PeerMissingError } from './optional-peer.ts';
export { retryUntil } from './retry.ts';
export { createInHand, currentIds, type InHand, traced, withIds } from './traced.ts';

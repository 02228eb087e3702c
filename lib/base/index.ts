/* What every room stands on: time, errors in words, schemas of what comes from outside, and what is loaded when needed. */

export { type BackoffLimits, backoffMs, once, readAhead, sleep } from './async.ts';
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
} from './faults.ts';
export {
  anyRecord,
  checkedBy,
  each,
  filledText,
  own,
  pastMoment,
  recordOf,
  utcTime,
  uuid,
  wellFormed,
  whole,
  wholeNumber,
  yesOrNo,
} from './inputs.ts';
export { loadPeer, PeerMissingError } from './optional-peer.ts';
export { retryUntil } from './retry.ts';

/*
 * The basis of all rooms: waiting and retries, errors in words, schemas for input, and packages that are loaded when
 * they are needed.
 */

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

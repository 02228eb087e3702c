/**
 * What this folder assumes where neither the contract nor the platform's practice says anything. Other choices:
 * - `number` is a whole number, `decimal` any finite one; `dateTime` may lack its offset; `duration` is ISO 8601.
 * - `nullable` applies to the value itself: an element of a list is never null, and null is not an empty list.
 * - A nullable input may be left out and is then null; an input that the function does not declare is refused.
 * - `undefined` is OUTPUT_UNDEFINED even where the output is nullable; NaN and Infinity become null, as in JSON.
 * - `result` is null unless the status is SUCCESS; a value of the wrong type is in `errorInformation.result`.
 * - One console call is one log entry: a single argument as it is, several joined by spaces as text.
 * - log, info and debug go to stdout, warn and error to stderr; the message of a failure is stderr's last entry.
 */
export const assumed = {
  /** The platform lets a function use 1 GB. The sandbox gives less: the interpreter never releases memory. */
  memoryLimitBytes: 256 * 1024 * 1024,
  /** The initial size of the interpreter's memory; the limit cannot be lower. */
  lowestMemoryLimitBytes: 16 * 1024 * 1024,
  /** The stack of a function. With a larger one, a runaway recursion would overflow Node's own stack first. */
  stackLimitBytes: 256 * 1024,
  logEntries: 1_000,
  /** Maximum UTF-16 code units of JSON that are stored for each of stdout and stderr. */
  logCharacters: 256 * 1024,
  logCutMark: '... log truncated',
  messageCharacters: 4_096,
} as const;

/**
 * What the sandbox assumes where neither the contract nor practice says anything. Clients must not rely on any of these
 * choices. The constants are below; the other choices are implemented elsewhere:
 * - Calculations can be sorted only by `name`, `created` and `id`; ties are ordered by id.
 * - A filter without a value matches every record that has a value; `created` and `modified` mean "at or after";
 *   `function` and `column` compare whole names; several filters must all match.
 * - A formula that does not parse, or uses a column that its dataset lacks, is refused with 400 under `strict`.
 * - The token's owner is an administrator: a locked formula may be changed.
 * - References may nest. A formula that refers to a missing calculation, or directly or indirectly to itself, is
 *   INVALID; its link is ILLEGAL_REFERENCE or INCOMPATIBLE_LINK. Deleting a calculation does not change the
 *   calculations that refer to it.
 * - The record that an update returns also has links to what the formula refers to; a search row does not.
 * - A request for the cards of an archived dataset gets 410, of a deleted dataset 404.
 * - Nulls sort before every value; a comparison with a null never matches; files with equal keys are ordered by id.
 * - A page token is valid only for the order it was created for, and gets 400 otherwise; a `limit` that is too high
 *   gets 400.
 * - `pageContext.offset` is the number of rows before the page, `total` the number of all matching rows.
 * - A directory has no `contentType`, `hashAlgorithm` or `downloadUrl` (null), and `indexStatus` SKIPPED.
 * - Body members that are not in the contract get 400; unknown query parameters and expansions are ignored.
 * - The limiter runs before the token check; a refused request does not extend the waiting time.
 * - A model other than the default belongs to the customer, and reports no `modelProviderUsage`.
 * - `errorInformation` is null if nothing is wrong.
 * - A card whose id is even contains its drills; drills on its own dataset then have no separate row.
 * - With `odd`, members that decide an outcome keep their meaning: see `http/faults.ts`, and the `oddity` of each
 *   operation.
 *
 * For code functions:
 * - `number` is a whole number, `decimal` any finite one; `dateTime` may lack its offset; `duration` is ISO 8601.
 * - `nullable` applies to the value itself: an element of a list is never null, and null is not an empty list.
 * - A nullable input may be left out and is then null; an input that the function does not declare is refused.
 * - `undefined` is OUTPUT_UNDEFINED even where the output is nullable; NaN and Infinity become null, as in JSON.
 * - `result` is null unless the status is SUCCESS; a value of the wrong type is in `errorInformation.result`.
 * - One console call is one log entry: a single argument as it is, several joined by spaces as text.
 * - log, info and debug go to stdout, warn and error to stderr; the message of a failure is stderr's last entry.
 */
export const assumptions = {
  /** The highest `limit` of a file search is not published. A higher one is refused, so that no client relies on it. */
  maxFileLimit: 1000,
  defaultFileLimit: 100,
  defaultFileSort: 'path',
  /** The largest request body, in bytes; the real limit is not published. Above it the response is 413. */
  maxBodyBytes: 10 * 1024 * 1024,
  /** The expansion that fills `currentRevision`; the contract mentions `metadata` without saying what it does. */
  currentRevisionExpansion: 'metadata',
  revisionsExpansion: 'revisions',
  /** The data type of a formula that does not parse. */
  dataTypeOfInvalid: 'STRING',
  sentimentModel: 'sandbox.lexicon-v1',
  /** The token's owner: `startedBy` of an execution. */
  tokenOwner: '100000001',
  /** The platform lets a function use 1 GB. The sandbox gives less: the interpreter never releases memory. */
  functionMemoryBytes: 256 * 1024 * 1024,
  /** The initial size of the interpreter's memory; the limit cannot be lower. */
  minFunctionMemoryBytes: 16 * 1024 * 1024,
  /** The stack of a function. With a larger one, a runaway recursion would overflow Node's own stack first. */
  functionStackBytes: 256 * 1024,
  /** Maximum log entries for each of stdout and stderr. */
  maxLogEntries: 1_000,
  /** Maximum UTF-16 code units of JSON for each of stdout and stderr. */
  maxLogCharacters: 256 * 1024,
  /** The last entry of a log that exceeded a limit. */
  logCutMark: '... log truncated',
  /** Maximum UTF-16 code units of the message of a thrown error; the rest is cut off. */
  maxMessageCharacters: 4_096,
} as const;

/**
 * Where neither the contract nor practice says anything, the sandbox had to choose; a client must not lean on any of
 * it. What is a value is here; these choices are ways to behave, and live where they are followed:
 * - Calculations can be sorted by `name`, `created` and `id`, and by nothing else; ties come in the order of ids.
 * - A filter without a value asks whether there is such a thing; `created` and `modified` ask for "at or after";
 *   `function` and `column` compare whole names; several filters must all hold.
 * - A formula that does not parse, or names a column that its dataset lacks, is refused with 400 under `strict`.
 * - The token's owner is an administrator: a locked formula may be changed.
 * - A formula that refers to nothing, to itself or to a calculation that refers further is INVALID, with its link.
 * - Nulls sort before every value; a comparison with a null never holds; files of equal keys come in the order of ids.
 * - A token is good for the order that it was made for, and 400 for another; a `limit` too high answers 400.
 * - `pageContext.offset` is the number of rows before the page, `total` that of all that match.
 * - A directory has no `contentType`, `hashAlgorithm` or `downloadUrl` (null), and `indexStatus` SKIPPED.
 * - Members of a body that the contract does not name answer 400; unknown query parameters and expansions do nothing.
 * - The limiter stands before the token check; a request that it refuses does not prolong the refusal.
 * - A model that is not the default one is the customer's own, and tells no `modelProviderUsage`.
 * - `errorInformation` is null where nothing is wrong.
 */
export const assumptions = {
  /** The highest `limit` of a file search is not published. More is refused, so that nobody leans on it. */
  maxFileLimit: 1000,
  /** The contract's default `limit` of a file search. */
  defaultFileLimit: 100,
  /** Files come in this order when no `fieldSort` is given. */
  defaultFileSort: 'path',
  /** The size from which a request's body answers 413 is not published, in bytes. */
  maxBodyBytes: 10 * 1024 * 1024,
  /** The expansion that fills `currentRevision`; the contract names `metadata` without saying what it does. */
  currentRevisionExpansion: 'metadata',
  /** The expansion that fills `revisions`. */
  revisionsExpansion: 'revisions',
  /** The `dataType` of a formula that does not parse. */
  dataTypeOfInvalid: 'STRING',
  /** The default model of the sentiment endpoint. */
  sentimentModel: 'sandbox.lexicon-v1',
  /** The token's owner: `startedBy` of an execution. */
  tokenOwner: '100000001',
} as const;

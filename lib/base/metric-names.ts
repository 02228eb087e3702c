/** The namespace of metrics: each instance has its own below it, named after its stack. */
export const METRIC_NAMESPACE = 'platform-sync';

/**
 * A line of the log each, counted by metric filters. The place of a missing snapshot follows its name, and so does a part
 * that is missing or refuses its use.
 */
export const problemNames = [
  'Unauthorized',
  'Forbidden',
  'Throttling',
  'RateReduced',
  'TableAway',
  'PartMissing',
  'PartRefused',
  'MessagesRefused',
  'JobsFailed',
  'JobsUnknown',
  'SnapshotRefused',
  'SnapshotMissing',
  'SentimentCalls',
  'SentimentTokens',
  'ReportFailed',
  'FunctionThrottles',
] as const;

export type ProblemName = (typeof problemNames)[number];

/** What functions measure: fields of these names in a line of the log, which queries sum up. */
export const measureNames = [
  'JobsDone',
  'JobsFailed',
  'JobsUnknown',
  /** Messages and requests in the inbox that could not become jobs. */
  'MessagesRefused',
  'Requests',
  'Retries',
  'Throttled',
  /** Requests that the platform refused with 401. */
  'Unauthorized',
  /** Requests refused with 403, except for single cards and data files: those are named in the manifest. */
  'Forbidden',
  /** Answers with members that are not as the contract has them: kept as they came. */
  'OddAnswers',
  /** Milliseconds that calls waited for their turn. */
  'WaitedMs',
  /** Slots of the budget: reserved, used by a call, and passed without one. */
  'SlotsGranted',
  'SlotsUsed',
  'SlotsWasted',
  /** Requests a second that may leave, as a process last knew; below the configured rate after a 429. */
  'EffectiveRate',
  'SentimentCalls',
  'SentimentTokens',
  'SnapshotsPublished',
  'SnapshotsRefused',
  /** Looks that found the newest published run too old, by `place`. */
  'SnapshotMissing',
] as const;

export type MeasureName = (typeof measureNames)[number];

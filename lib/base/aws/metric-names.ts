/** The namespace of metrics: each instance has its own below it, named after its stack. */
export const METRIC_NAMESPACE = 'platform-sync';

/**
 * Problems: each is a line of the log, counted by metric filters. The place of a missing snapshot follows its name, and so
 * do the name of a missing scheduled function, and a part that is missing or may not be used.
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
  'FunctionMissing',
  'SentimentCalls',
  'SentimentTokens',
  'ReportFailed',
  'FunctionThrottles',
] as const;

/** The name of a problem in logs and alarms. */
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
  /** Responses with members that differ from the contract: kept as received. */
  'OddAnswers',
  /** Milliseconds that calls waited for their turn. */
  'WaitedMs',
  /** Slots of the budget: reserved, used by a call, and passed without one. */
  'SlotsGranted',
  'SlotsUsed',
  'SlotsWasted',
  /** Requests a second that may leave, as a process last read; below the configured rate after a 429. */
  'EffectiveRate',
  'SentimentCalls',
  'SentimentTokens',
  'SnapshotsPublished',
  'SnapshotsRefused',
  /** Checks that found the newest published run too old, by `place`. */
  'SnapshotMissing',
] as const;

/** The name of a measure in logs and queries. */
export type MeasureName = (typeof measureNames)[number];

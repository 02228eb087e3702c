/** The beginning of the metrics' namespaces. Each instance has a namespace below it, with the name of its stack. */
export const METRIC_NAMESPACE = 'platform-sync';

/**
 * The values of `problem` in log lines, which metric filters count. A detail may follow the name: the place of a
 * missing snapshot, the name of a scheduled function that did not run, or a resource that is missing or may not be
 * used.
 */
export const problemNames = [
  'Unauthorized',
  'Forbidden',
  'Throttling',
  'RateReduced',
  'TableUnavailable',
  'ResourceMissing',
  'ResourceRefused',
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

/** What functions measure. Log lines have fields with these names, which queries sum up. */
export const measureNames = [
  'JobsDone',
  'JobsFailed',
  'JobsUnknown',
  /** Messages and requests in the inbox that could not become jobs. */
  'MessagesRefused',
  'Requests',
  'Retries',
  'Throttled',
  /** Requests that the platform rejected with 401. */
  'Unauthorized',
  /** Requests rejected with 403, except for single cards and data files, which the manifest lists. */
  'Forbidden',
  /** Responses with members that differ from the platform's API; they are stored as received. */
  'OddAnswers',
  /** Milliseconds that calls waited for their turn. */
  'WaitedMs',
  /** Slots of the budget that were reserved, used by a call, or expired unused. */
  'SlotsGranted',
  'SlotsUsed',
  'SlotsWasted',
  /** The rate in requests a second at the last read of the budget; it is below the configured rate after a 429. */
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

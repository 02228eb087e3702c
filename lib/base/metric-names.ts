/** The namespace of all instances' metrics; each names its stack in the dimension `service`. */
export const METRIC_NAMESPACE = 'platform-sync';

/** What the functions report to CloudWatch, because an alarm needs it: each is a count, and is paid by the hour. */
export const metricNames = [
  'JobsFailed',
  'JobsUnknown',
  /** Messages and requests in the inbox that could not become jobs. */
  'MessagesRefused',
  'Requests',
  'Throttled',
  /** Requests that the platform refused with 401. */
  'Unauthorized',
  /** Requests refused with 403, except for single cards and data files: those are named in the manifest. */
  'Forbidden',
  /** Times that a process found the table unavailable, so that it sent nothing. */
  'TableAway',
  'SentimentCalls',
  'SentimentTokens',
  'SnapshotsRefused',
  /** Checks that found the newest published run too old, by the dimension `place`. */
  'SnapshotMissing',
] as const;

/** One of them. */
export type MetricName = (typeof metricNames)[number];

/** What is only in the line of the log that reports the metrics, as a field of this name: queries sum it up. */
export const loggedNames = [
  'JobsDone',
  'SnapshotsPublished',
  'Retries',
  /** Milliseconds that calls waited for their turn. */
  'WaitedMs',
  /** Slots of the budget: reserved, used by a call, and passed without one. */
  'SlotsGranted',
  'SlotsUsed',
  'SlotsWasted',
  /** Requests a second that may leave, as a process last knew; below the configured rate after a 429. */
  'EffectiveRate',
] as const;

/** Anything that the functions measure. */
export type MeasureName = MetricName | (typeof loggedNames)[number];

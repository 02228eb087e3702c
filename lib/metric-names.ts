/** The namespace of all instances' metrics; each names its stack in the dimension `service`. */
export const METRIC_NAMESPACE = 'platform-sync';

/** What the functions measure in addition to the metrics of AWS. Counts, except for `WaitedMs` and `EffectiveRate`. */
export const metricNames = [
  /** Also by the dimension `type`, like the next two. */
  'JobsDone',
  'JobsFailed',
  'JobsUnknown',
  /** Messages and requests in the inbox that could not become jobs. */
  'MessagesRefused',
  'Requests',
  'Retries',
  'Throttled',
  /** Milliseconds that calls waited for their turn. */
  'WaitedMs',
  /** Requests that the platform refused with 401. */
  'Unauthorized',
  /** Requests refused with 403, except for single cards and data files: those are named in the manifest. */
  'Forbidden',
  /** Times that a process fell back to the safe rate because the table was unavailable. */
  'SafeRate',
  'SentimentCalls',
  'SentimentTokens',
  /** Slots of the budget: reserved, used by a call, and passed without one. */
  'SlotsGranted',
  'SlotsUsed',
  'SlotsWasted',
  /** Requests a second that may leave, as a process last knew; below the configured rate after a 429. */
  'EffectiveRate',
  /** Also by the dimension `place`, like the next one. */
  'SnapshotsPublished',
  'SnapshotsRefused',
] as const;

/** One of them. */
export type MetricName = (typeof metricNames)[number];

/** Where the metrics of all instances lie; each names its stack in the dimension `service`. */
export const metricNamespace = 'platform-sync';

/** What the functions measure, beside the metrics of AWS. Counts, but for `WaitedMs` and `EffectiveRate`. */
export const metricNames = [
  /** By the dimension `type` too, like the next two. */
  'JobsDone',
  'JobsFailed',
  'JobsUnknown',
  /** Messages and requests of the inbox that could not become jobs. */
  'MessagesRefused',
  'Requests',
  'Retries',
  'Throttled',
  /** Milliseconds that calls waited for their turn. */
  'WaitedMs',
  /** Requests that the platform answered with 401. */
  'Unauthorized',
  /** With 403, but for single cards and data files: those are named in the manifest. */
  'Forbidden',
  /** Times that a process fell back to the safe rate, since the table was away. */
  'SafeRate',
  'SentimentCalls',
  'SentimentTokens',
  /** Slots of the budget: reserved, left in by a call, and passed without one. */
  'SlotsGranted',
  'SlotsUsed',
  'SlotsWasted',
  /** Requests a second that may leave now, as a process last knew; below the configured rate after a 429. */
  'EffectiveRate',
  /** By the dimension `place` too, like the next. */
  'SnapshotsPublished',
  'SnapshotsRefused',
] as const;

/** One of them. */
export type MetricName = (typeof metricNames)[number];

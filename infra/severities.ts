/**
 * How soon somebody must look. `page`: now, even at night, since data or money is being lost or nothing works. `ticket`:
 * on the next working day. `notice`: when there is time, since it ends by itself or only makes things slower.
 */
export const severities = ['page', 'ticket', 'notice'] as const;

export type Severity = (typeof severities)[number];

/** The alarms, by the sections of the runbook, that are not tickets. */
const OTHERS: Readonly<Record<string, Severity>> = {
  Unauthorized: 'page',
  FunctionErrors: 'page',
  OldestJob: 'page',
  SnapshotMissing: 'page',
  SentimentCalls: 'page',
  SentimentTokens: 'page',
  Throttling: 'notice',
  TableAway: 'notice',
};

/** The severity of an alarm, unless the configuration says otherwise. */
export const severityOf = (section: string): Severity => OTHERS[section] ?? 'ticket';

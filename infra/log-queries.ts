import type { MeasureName } from '../lib/contract.ts';

/** A query over the logs of the functions: saved in CloudWatch, and shown on the dashboard. */
export type SavedLogQuery = {
  /** The query's name in the stack's folder in CloudWatch, and its heading on the dashboard. */
  readonly title: string;
  /** Its form on the dashboard: a table of figures, or a chart over time. Default: not on the dashboard. */
  readonly as?: 'table' | 'chart';
  readonly query: readonly string[];
};

/** The sum of a measure over log lines. */
const sum = (name: MeasureName) => `sum(${name})`;

const MEASURED = 'filter msg = "measured"';

const overTime = (title: string, figures: readonly string[]): SavedLogQuery => ({
  title,
  as: 'chart',
  query: [MEASURED, `stats ${figures.join(', ')} by bin(5m)`],
});

/** Queries of the measures, which are fields of log lines, because metrics cost extra. */
export const logQueries = {
  problems: {
    title: 'Problems that alarms reported',
    as: 'table',
    query: [
      'filter msg = "problem" or (type = "platform.report" and record.status != "success")',
      'fields coalesce(problem, record.status) as what',
      'stats count(*) as count, max(value) as maximum, max(@timestamp) as last by what',
      'sort last desc',
    ],
  },
  day: {
    title: 'The last day',
    as: 'table',
    query: [
      MEASURED,
      `stats ${(
        [
          'SnapshotsPublished',
          'SnapshotsRefused',
          'JobsDone',
          'JobsFailed',
          'JobsUnknown',
          'MessagesRefused',
          'Requests',
          'SentimentCalls',
        ] as const
      )
        .map(sum)
        .join(', ')}`,
    ],
  },
  places: {
    title: 'Snapshots by place',
    as: 'table',
    query: [
      MEASURED,
      'filter ispresent(place)',
      `stats ${(['SnapshotsPublished', 'SnapshotsRefused', 'SnapshotMissing'] as const).map(sum).join(', ')} by place`,
      'sort place',
    ],
  },
  jobs: overTime(
    'Jobs ended',
    (['JobsDone', 'JobsFailed', 'JobsUnknown', 'MessagesRefused'] as const).map(sum),
  ),
  calls: overTime('Calls to the platform', (['Requests', 'Retries', 'Throttled'] as const).map(sum)),
  throttled: {
    title: 'Calls that were throttled, by operation',
    as: 'table',
    query: [
      'filter msg = "throttled"',
      'stats count(*) as calls, max(@timestamp) as last by operation',
      'sort calls desc',
    ],
  },
  budget: overTime('The fleet’s budget: slots, and the rate now', [
    sum('SlotsGranted'),
    sum('SlotsUsed'),
    sum('SlotsWasted'),
    `min(${'EffectiveRate' satisfies MeasureName})`,
  ]),
  waits: {
    title: 'How long calls waited, by hour',
    as: 'table',
    query: [
      MEASURED,
      `stats sum(${'WaitedMs' satisfies MeasureName}) / sum(${'Requests' satisfies MeasureName}) as msPerCall by bin(1h)`,
    ],
  },
  texts: overTime('Texts scored, and tokens', (['SentimentCalls', 'SentimentTokens'] as const).map(sum)),
  refused: overTime(
    'Requests refused, and odd responses',
    (['Unauthorized', 'Forbidden', 'OddAnswers'] as const).map(sum),
  ),
  faults: {
    title: 'Warnings and errors, newest first',
    as: 'table',
    // The functions' lines, and Lambda's lines about time-outs and crashes.
    query: [
      'fields @timestamp, msg, job, err.message, @message',
      'filter level in ["warn", "error", "fatal", "WARN", "ERROR", "FATAL"]',
      'sort @timestamp desc',
      'limit 100',
    ],
  },
  job: {
    title: 'What happened to a job, message, batch, run or request (replace ID by its id)',
    // The id may be anywhere in a line, for example in the list of jobs that were running at the time limit.
    query: [
      'fields @timestamp, msg, job, type, status, attempts, tookMs, run, kind, err.message, request, @log',
      'filter @message like /"(job|messageId|batch|run|request)":"ID"/',
      'sort @timestamp asc',
      'limit 1000',
    ],
  },
} as const satisfies Record<string, SavedLogQuery>;

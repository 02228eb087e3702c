import { Duration, Tokenization } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import {
  type ExpectedSnapshot,
  endpointNames,
  type JobType,
  type ProblemName,
  resources,
} from '../lib/contract.ts';
import { allowedTypes } from './allowed-types.ts';
import type { Instance } from './config-schema.ts';
import type { Severity } from './severities.ts';
import type { SyncFunction } from './sync-function.ts';

/** A problem that an operator must look into. Its name is the heading of its section in the runbook. */
export type Condition = {
  readonly severity: Severity;
  /** What is wrong, in a sentence: the description of its alarm. */
  readonly says: string;
  /** What sets the threshold, in words. If absent, it is fixed here, and `alarms.overrides` can change it. */
  readonly setBy?: string;
  /** The section of the runbook. Default: the condition's name. */
  readonly section?: string;
} & (LoggedCondition | MeasuredCondition);

/** A condition that is found in log lines. All such conditions of a severity share one metric and one alarm. */
export type LoggedCondition = {
  readonly logs: readonly SyncFunction[];
  /** The pattern of a metric filter, without braces. */
  readonly pattern: string;
  /** The field of the line that names the problem. */
  readonly field: string;
  /** The possible values of the field. */
  readonly values: readonly string[];
  /** A shorter pattern that covers all conditions of its section, since a filter has at most 1,024 characters. */
  readonly sectionPattern?: string;
  /** Whether the threshold is compared with the line's `value`. Default: with the number of lines in five minutes. */
  readonly byValue?: boolean;
};

/** A condition of an AWS metric. Its own alarm goes off when the metric is above a value for five minutes. */
type MeasuredCondition = { readonly metric: IMetric; readonly above: number };

/** What the conditions of an instance depend on. */
export type ConditionsProps = Pick<Instance, 'alarms' | 'allow'> & {
  /** The snapshots that must be published regularly. */
  readonly expected: readonly ExpectedSnapshot[];
  /** The names of the functions that run on a schedule. */
  readonly scheduled: readonly string[];
  readonly queues: readonly IQueue[];
  readonly deadLetters: Readonly<Record<'JobsDeadLetters' | 'RareDeadLetters', IQueue>>;
  /** The functions that call the platform or split texts. */
  readonly workers: readonly SyncFunction[];
  /** The function that checks every hour for missing snapshots and a refused token. */
  readonly watch: SyncFunction;
  /** The function that builds tables. */
  readonly tables: SyncFunction | undefined;
  /** The function that moves jobs from queues that are turned off. */
  readonly move: SyncFunction | undefined;
  /** The function that writes the report. A single failure does not matter, since it runs again in ten minutes. */
  readonly report: SyncFunction | undefined;
};

type Conditions = Readonly<Record<string, Condition>>;

/** All conditions of an instance. */
export const conditionsOf = (props: ConditionsProps): Conditions => ({
  ...platformConditions(props),
  ...resourceConditions(props),
  ...jobConditions(props),
  ...deadLetterConditions(props),
  ...snapshotConditions(props),
  ...functionConditions(props),
  ...(allowedTypes(props).includes('score') ? spendingConditions(props) : {}),
});

/** Prints a number, which may be a CDK token. */
const { stringifyNumber } = Tokenization;

const FIVE_MINUTES = Duration.minutes(5);

const ifDefined = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);

/** A condition that is found in the lines of functions about the problem `name`. */
const problem = (name: ProblemName, logs: readonly SyncFunction[], above?: number) => ({
  logs,
  pattern: `$.problem = "${name}"${above === undefined ? '' : ` && $.value > ${stringifyNumber(above)}`}`,
  field: '$.problem',
  values: [name],
  byValue: above !== undefined,
});

const platformConditions = ({ workers, watch }: ConditionsProps): Conditions => ({
  Unauthorized: {
    severity: 'page',
    says: 'The platform refuses the token (401), and no call has succeeded since: it may have expired.',
    ...problem('Unauthorized', [...workers, watch]),
  },
  Forbidden: {
    severity: 'ticket',
    says: 'The platform forbids calls (403).',
    ...problem('Forbidden', workers),
  },
  Throttling: {
    severity: 'notice',
    says: 'The platform throttles more than 5 % of the requests.',
    ...problem('Throttling', workers, 5),
  },
  OperationThrottled: {
    severity: 'ticket',
    says: 'The platform has refused one operation for more than 30 minutes, while it accepts other operations. The jobs of the operation wait.',
    section: 'Throttling',
    ...problem('Throttling', [watch], 30),
    pattern: '$.problem = "Throttling-*" && $.value > 30',
    values: endpointNames.map((name) => `Throttling-${name}`),
  },
  RateReduced: {
    severity: 'notice',
    says: 'For 15 minutes, calls had to wait because the fleet could use only about half of its rate or less.',
    ...problem('RateReduced', workers, 45),
  },
  TableUnavailable: {
    severity: 'notice',
    says: 'The table of the budget does not respond: processes send nothing until it does.',
    ...problem('TableUnavailable', workers),
  },
});

/**
 * The conditions about missing or forbidden resources. They are urgent if jobs and snapshots need the resource;
 * tables and the report can be built later.
 */
function resourceConditions({ workers, watch, move, tables, report }: ConditionsProps): Conditions {
  const now = [...workers, watch, ...ifDefined(move)];
  const later = [...ifDefined(tables), ...ifDefined(report)];
  const condition = (
    severity: Severity,
    name: keyof typeof SAYS,
    logs: readonly SyncFunction[],
  ): Condition => ({
    severity,
    says: `${severity === 'page' ? 'Jobs and snapshots' : 'Tables or the report'} ${SAYS[name]}`,
    section: name,
    logs,
    pattern: `$.problem = "${name}-*"`,
    field: '$.problem',
    values: resources.map((resource) => `${name}-${resource}`),
  });
  return {
    ResourceMissing: condition('page', 'ResourceMissing', now),
    ResourceRefused: condition('page', 'ResourceRefused', now),
    ...(later.length > 0 && {
      TablesResourceMissing: condition('ticket', 'ResourceMissing', later),
      TablesResourceRefused: condition('ticket', 'ResourceRefused', later),
    }),
  };
}

const SAYS = {
  ResourceMissing: 'need a table, a bucket, a queue or another AWS resource that does not exist.',
  ResourceRefused: 'are not permitted to use a table, a bucket, a queue or another AWS resource, or its key.',
} as const satisfies Partial<Record<ProblemName, string>>;

/** Jobs that may end as unknown: they change the platform, so they are not sent again to find out their outcome. */
const MAY_BE_UNKNOWN: readonly JobType[] = ['run-function', 'update-formula'];

const jobConditions = ({ alarms, queues, workers, ...allowed }: ConditionsProps): Conditions => ({
  MessagesRefused: {
    severity: 'ticket',
    says: 'Messages or requests could not become jobs.',
    ...problem('MessagesRefused', workers),
  },
  JobsFailed: { severity: 'ticket', says: 'Jobs failed.', ...problem('JobsFailed', workers) },
  ...(allowedTypes(allowed).some((type) => MAY_BE_UNKNOWN.includes(type)) && {
    JobsUnknown: {
      severity: 'ticket',
      says: 'It is unknown whether some jobs were executed.',
      ...problem('JobsUnknown', workers),
    },
  }),
  OldestJob: {
    severity: 'page',
    says: `A job has waited for more than ${alarms.oldestJobHours} hours.`,
    metric: oldest(queues),
    above: Duration.hours(alarms.oldestJobHours).toSeconds(),
    setBy: 'alarms.oldestJobHours',
  },
});

const deadLetterConditions = ({ deadLetters }: ConditionsProps): Conditions => ({
  JobsDeadLetters: {
    severity: 'ticket',
    says: 'Messages were received too often without a result: their jobs neither ended nor were refused.',
    ...anyMessageIn(deadLetters.JobsDeadLetters),
  },
  RareDeadLetters: {
    severity: 'ticket',
    says: 'A snapshot failed, a request of the inbox could not be split, or a schedule or an event could not create its job.',
    ...anyMessageIn(deadLetters.RareDeadLetters),
  },
});

const anyMessageIn = (queue: IQueue): MeasuredCondition => ({
  metric: queue.metricApproximateNumberOfMessagesVisible({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
  above: 0,
});

function snapshotConditions({ expected, scheduled, watch, workers }: ConditionsProps): Conditions {
  const missing = [
    ...expected.map(({ place, hours }) => ({
      section: 'SnapshotMissing' as const,
      of: place as string,
      says: `No snapshot of ${place} was published in ${hours} hours.`,
      setBy: 'publishedWithinHours of the schedule',
    })),
    ...scheduled.map((of) => ({
      section: 'FunctionMissing' as const,
      of,
      says: `The job of ${of} did not arrive within an hour of its scheduled time.`,
    })),
  ].map(({ of, section, ...words }) => {
    const name = `${section}-${of}`;
    const condition: Condition = {
      ...words,
      severity: 'page',
      section,
      logs: [watch],
      pattern: `$.problem = "${name}"`,
      sectionPattern: `$.problem = "${section}-*"`,
      field: '$.problem',
      values: [name],
    };
    return [name, condition] as const;
  });
  return {
    SnapshotRefused: {
      severity: 'ticket',
      says: 'A snapshot was refused publication.',
      ...problem('SnapshotRefused', workers),
    },
    ...Object.fromEntries(missing),
  };
}

const functionConditions = ({ workers, watch, tables, move, report }: ConditionsProps): Conditions => ({
  FunctionErrors: {
    severity: 'ticket',
    says: 'Invocations of a function failed, ran out of time or memory, or crashed.',
    logs: [...workers, watch, ...ifDefined(tables), ...ifDefined(move)],
    // Lambda writes this line at the end of each invocation, even if it killed the invocation.
    pattern: '$.type = "platform.report" && $.record.status != "success"',
    field: '$.record.status',
    values: ['error', 'failure', 'timeout'],
  },
  FunctionThrottles: {
    severity: 'ticket',
    says: 'Lambda did not start invocations of a function for more than 15 minutes, since too many were running.',
    ...problem('FunctionThrottles', [watch, ...ifDefined(report)], 900),
  },
  ...(report && {
    ReportFailed: {
      severity: 'ticket',
      says: 'For about an hour, the report could not be written, or a digest could not be sent.',
      setBy: 'the number of attempts',
      ...problem('ReportFailed', [report]),
    },
  }),
});

const spendingConditions = ({ workers, alarms }: ConditionsProps): Conditions => ({
  SentimentCalls: {
    severity: 'page',
    says: `More than ${stringifyNumber(alarms.sentimentCallsPerDay)} texts were scored in a day: each costs credits.`,
    setBy: 'alarms.sentimentCallsPerDay',
    ...problem('SentimentCalls', workers, alarms.sentimentCallsPerDay),
  },
  SentimentTokens: {
    severity: 'page',
    says: `More than ${stringifyNumber(alarms.sentimentTokensPerDay)} tokens were used in a day.`,
    setBy: 'alarms.sentimentTokensPerDay',
    ...problem('SentimentTokens', workers, alarms.sentimentTokensPerDay),
  },
});

/** The age of the oldest message in all queues; a queue without data counts as 0. */
function oldest(queues: readonly IQueue[]): IMetric {
  const ages = queues.map((queue) =>
    queue.metricApproximateAgeOfOldestMessage({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
  );
  const [only] = ages;
  if (only !== undefined && ages.length === 1) return only;
  const metrics = ages.map((metric, index) => [`m${index}`, metric] as const);
  return new MathExpression({
    expression: `MAX([${metrics.map(([name]) => `FILL(${name}, 0)`).join(', ')}])`,
    usingMetrics: Object.fromEntries(metrics),
    label: 'Oldest',
    period: FIVE_MINUTES,
  });
}

import { Duration } from 'aws-cdk-lib';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { ExpectedSnapshot, JobType } from '../lib/contract.ts';
import { AlarmTopics, type GivenTopics } from './alarm-topics.ts';
import { allowedTypes } from './allowed-types.ts';
import { ConfigError } from './config.ts';
import type { Instance } from './config-schema.ts';
import type { OwnMetrics } from './metrics.ts';
import { severityOf } from './severities.ts';
import type { SyncFunction } from './sync-function.ts';

export type AlarmsProps = Pick<Instance, 'alarms' | 'allow'> & {
  /** The snapshots that must be published again and again. */
  readonly expected: readonly ExpectedSnapshot[];
  /** What is started once an hour, or once a day: nothing waits for them if they are throttled. */
  readonly rare: readonly SyncFunction[];
  /** What writes the report: it looks again in ten minutes, and nothing else waits for it. */
  readonly report: SyncFunction | undefined;
  /** Of the app around, besides those of the settings. */
  readonly topics?: GivenTopics;
  readonly metrics: OwnMetrics;
  readonly queues: readonly IQueue[];
  readonly deadLetters: Readonly<Record<DeadLetterAlarm, IQueue>>;
  readonly functions: readonly SyncFunction[];
};

type DeadLetterAlarm = 'JobsDeadLetters' | 'RareDeadLetters';

/** What an alarm watches. It goes off above a value: by default, at the first occurrence. */
type Watch = {
  readonly says: string;
  readonly metric: IMetric;
  readonly above?: number;
  /** It goes off when so many periods in a row are above. Default: 1. */
  readonly periods?: number;
  /** How many periods are looked at, of which `periods` must be above. Default: as many. */
  readonly of?: number;
  /** The section of the runbook, if it is not the alarm's name. */
  readonly section?: string;
};

/** All alarms. Each names its section of the runbook, whose heading is the alarm's name. */
export class Alarms extends Construct {
  readonly all: readonly Alarm[];
  /** Who is notified. */
  readonly topics: AlarmTopics;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.topics = new AlarmTopics(this, 'Topics', { alarms: props.alarms, given: props.topics ?? {} });
    const all = Object.entries(watches(props));
    const { runbook, overrides } = props.alarms;
    checkOverrides(
      overrides,
      all.map(([name]) => name),
    );
    this.all = all.flatMap(([name, watch]) => {
      const { off = false, threshold, severity } = overrides[name] ?? {};
      if (off) return [];
      const alarm = this.alarm(name, watch, runbook, threshold);
      const actions = this.topics
        .of(severity ?? severityOf(watch.section ?? name))
        .map((topic) => new SnsAction(topic));
      alarm.addAlarmAction(...actions);
      // Whoever was called up should hear that it is over, too.
      alarm.addOkAction(...actions);
      return [alarm];
    });
  }

  private alarm(name: string, watch: Watch, runbook: string, threshold: number | undefined): Alarm {
    const { says, metric, above = 0, periods = 1, of = periods, section = name } = watch;
    return new Alarm(this, name, {
      alarmDescription: `${says}${threshold === undefined ? '' : ` It goes off above ${threshold}.`} ${runbook}#${section.toLowerCase()}`,
      metric,
      threshold: threshold ?? above,
      evaluationPeriods: of,
      datapointsToAlarm: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
  }
}

/** Which alarms there are depends on the other settings: only here are their names known. */
function checkOverrides(overrides: Instance['alarms']['overrides'], names: readonly string[]): void {
  const faults = Object.entries(overrides).flatMap(([name, { threshold }]) => {
    if (!names.includes(name)) return [`alarms.overrides.${name}: expected one of ${names.join(', ')}`];
    const setting = SET_BY[name.replace(/-.*/, '')];
    return threshold === undefined || setting === undefined
      ? []
      : [`alarms.overrides.${name}.threshold: expected none: ${setting} sets it`];
  });
  if (faults.length > 0) throw new ConfigError(faults);
}

/** The settings that thresholds follow from. */
const SET_BY: Readonly<Record<string, string>> = {
  OldestJob: 'alarms.oldestJobHours',
  SentimentCalls: 'alarms.sentimentCallsPerDay',
  SentimentTokens: 'alarms.sentimentTokensPerDay',
  SnapshotMissing: 'publishedWithinHours of the schedule',
};

const FIVE_MINUTES = Duration.minutes(5);
const HOUR = Duration.hours(1);
const DAY = Duration.days(1);

/** With fewer requests than this, a share says nothing. */
const FEWEST_REQUESTS = 20;

type Watches = Readonly<Record<string, Watch>>;

const watches = (props: AlarmsProps): Watches => ({
  ...platformWatches(props),
  ...jobWatches(props),
  ...deadLetterWatches(props),
  ...snapshotWatches(props),
  ...functionWatches(props),
  ...reportWatches(props),
  ...(allowedTypes(props).includes('score') ? spendingWatches(props) : {}),
});

const platformWatches = ({ metrics }: AlarmsProps): Watches => ({
  Unauthorized: {
    says: 'The platform refuses the token (401): it may have expired.',
    metric: metrics('Unauthorized'),
  },
  Forbidden: { says: 'The platform forbids calls (403).', metric: metrics('Forbidden') },
  Throttling: {
    says: 'The platform throttles more than 5 % of the requests.',
    metric: new MathExpression({
      expression: `IF(requests >= ${FEWEST_REQUESTS}, 100 * FILL(throttled, 0) / requests, 0)`,
      usingMetrics: { requests: metrics('Requests'), throttled: metrics('Throttled') },
      label: 'Throttled %',
      period: FIVE_MINUTES,
    }),
    above: 5,
    periods: 3,
  },
  TableAway: {
    says: 'The table of the budget cannot be reached: processes send nothing.',
    metric: metrics('TableAway'),
  },
});

/** Jobs that change something on the platform, so that they are not sent again to find out. */
const MAY_BE_UNKNOWN: readonly JobType[] = ['run-function', 'update-formula'];

const jobWatches = ({ metrics, alarms, queues, ...allowed }: AlarmsProps): Watches => ({
  MessagesRefused: {
    says: 'Messages or requests could not become jobs.',
    metric: metrics('MessagesRefused'),
  },
  JobsFailed: { says: 'Jobs failed.', metric: metrics('JobsFailed') },
  ...(allowedTypes(allowed).some((type) => MAY_BE_UNKNOWN.includes(type))
    ? {
        JobsUnknown: {
          says: 'It is unknown whether some jobs were executed.',
          metric: metrics('JobsUnknown'),
        },
      }
    : {}),
  OldestJob: {
    says: `A job has waited for more than ${alarms.oldestJobHours} hours.`,
    metric: oldest(queues),
    above: Duration.hours(alarms.oldestJobHours).toSeconds(),
  },
});

const functionWatches = ({ functions, rare }: AlarmsProps): Watches => ({
  FunctionErrors: {
    says: 'A function of the stack is failing.',
    metric: sumOf(
      [...functions, ...rare].map(({ function: each }) => each.metricErrors({ period: FIVE_MINUTES })),
    ),
    of: periodsOfInvocation([...functions, ...rare]),
  },
  FunctionThrottles: {
    says: 'Lambda throttles a function of the stack.',
    metric: sumOf(functions.map(({ function: each }) => each.metricThrottles({ period: FIVE_MINUTES }))),
    periods: 3,
    of: periodsOfInvocation(functions),
  },
});

/** A failure is tried again in ten minutes, and a later one after longer; until then each look fails. */
const reportWatches = ({ report }: AlarmsProps): Watches =>
  report === undefined
    ? {}
    : {
        ReportFailed: {
          says: 'The report could not be written, or a digest not sent, for about an hour.',
          metric: report.function.metricErrors({ period: FIVE_MINUTES }),
          periods: 3,
          of: Duration.minutes(70).toMinutes() / FIVE_MINUTES.toMinutes(),
        },
      };

/**
 * How many periods an alarm on a metric of Lambda must look at. Lambda dates what it counts at the start of an
 * invocation, and reports it at the end: a time-out falls into a period that is over by the function's time limit, and a
 * little more until the metric arrives.
 */
function periodsOfInvocation(functions: readonly SyncFunction[]): number {
  const longest = Math.max(...functions.map(({ function: { timeout } }) => timeout?.toSeconds() ?? 0));
  return Math.ceil(longest / FIVE_MINUTES.toSeconds()) + 1;
}

const spendingWatches = ({ metrics, alarms }: AlarmsProps): Watches => ({
  SentimentCalls: {
    says: `More than ${alarms.sentimentCallsPerDay} texts were scored in a day: each costs credits.`,
    metric: metrics('SentimentCalls', DAY),
    above: alarms.sentimentCallsPerDay,
  },
  SentimentTokens: {
    says: `More than ${alarms.sentimentTokensPerDay} tokens were used in a day.`,
    metric: metrics('SentimentTokens', DAY),
    above: alarms.sentimentTokensPerDay,
  },
});

const DEAD_LETTERS = {
  JobsDeadLetters: 'Messages could be neither done nor refused.',
  RareDeadLetters:
    'A snapshot failed, a request of the inbox could not be split, or a schedule or an event could not make its job.',
} as const satisfies Record<DeadLetterAlarm, string>;

const deadLetterWatches = ({ deadLetters }: AlarmsProps): Watches =>
  Object.fromEntries(
    (Object.entries(DEAD_LETTERS) as [DeadLetterAlarm, string][]).map(([name, says]) => [
      name,
      {
        says,
        metric: deadLetters[name].metricApproximateNumberOfMessagesVisible({
          period: FIVE_MINUTES,
          statistic: Stats.MAXIMUM,
        }),
      },
    ]),
  );

function snapshotWatches({ metrics, expected }: AlarmsProps): Watches {
  const missing = expected.map(({ place, hours }) => {
    const watch: Watch = {
      says: `No snapshot of ${place} was published in ${hours} hours.`,
      metric: metrics('SnapshotMissing', HOUR, { place }),
      // Each hour is looked at once, not always in the same minute: an hour without a look is not the end of it.
      of: 2,
      section: 'SnapshotMissing',
    };
    return [`SnapshotMissing-${place}`, watch] as const;
  });
  return {
    SnapshotRefused: {
      says: 'A snapshot was refused publication.',
      metric: metrics('SnapshotsRefused'),
    },
    ...Object.fromEntries(missing),
  };
}

const oldest = (queues: readonly IQueue[]) =>
  combined(
    'MAX',
    queues.map((queue) =>
      queue.metricApproximateAgeOfOldestMessage({ period: FIVE_MINUTES, statistic: Stats.MAXIMUM }),
    ),
  );

const sumOf = (metrics: readonly IMetric[]) => combined('SUM', metrics);

/** One value of several metrics; a metric without data counts as 0. */
function combined(by: 'SUM' | 'MAX', metrics: readonly IMetric[]): MathExpression {
  const named = metrics.map((metric, index) => [`m${index}`, metric] as const);
  const filled = named.map(([name]) => `FILL(${name}, 0)`);
  return new MathExpression({
    expression: `${by}([${filled.join(', ')}])`,
    usingMetrics: Object.fromEntries(named),
    label: by === 'SUM' ? 'All' : 'Oldest',
    period: FIVE_MINUTES,
  });
}

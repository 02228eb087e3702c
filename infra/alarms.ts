import { Duration, Tokenization } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmProps,
  ComparisonOperator,
  MathExpression,
  Metric,
  Stats,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { FilterPattern, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE } from '../lib/contract.ts';
import { AlarmTopics, type ExistingTopics } from './alarm-topics.ts';
import { type Condition, type ConditionsProps, conditionsOf, type LoggedCondition } from './conditions.ts';
import { ConfigError } from './config.ts';
import type { Instance } from './config-schema.ts';
import { type Severity, severities } from './severities.ts';

export type AlarmsProps = ConditionsProps & {
  /** The instance's name in metrics. */
  readonly serviceName: string;
  /** Topics of the surrounding app, besides the topics in the settings. */
  readonly topics?: ExistingTopics;
};

const FIVE_MINUTES = Duration.minutes(5);

/**
 * How long an alarm lasts after the last log line of its problem: longer than the hour between two checks. An alarm can
 * cover at most three hours.
 */
const ALARM_LASTS = Duration.minutes(75);

type Named<T = Condition> = readonly [name: string, condition: T];
type Logged = Named<Condition & LoggedCondition>;

/**
 * The alarms of an instance. Each metric of an alarm costs money, so all problems of a severity in the logs share one
 * metric and one alarm. Each problem is a series of the metric, with its own state and notifications. A metric of
 * AWS, and a condition with a threshold in the settings, has its own alarm.
 */
export class Alarms extends Construct {
  /** The conditions that alarms report, by name. Several conditions may share an alarm. */
  readonly conditions: Readonly<Record<string, Condition>>;
  /** The alarms by name. */
  readonly all: Readonly<Record<string, Alarm>>;
  /** The topics that are notified. */
  readonly topics: AlarmTopics;
  /** All conditions that the logs report, including conditions that are turned off. */
  private readonly possible: readonly Logged[];
  private readonly namespace: string;
  private readonly runbook: string;

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    const { alarms, serviceName, topics } = props;
    this.topics = new AlarmTopics(this, 'Topics', { alarms, given: topics ?? {} });
    this.namespace = `${METRIC_NAMESPACE}/${serviceName}`;
    this.runbook = alarms.runbook;
    const possible = conditionsOf(props);
    this.conditions = overridden(possible, alarms.overrides);
    this.possible = namedIn(possible).filter(isLogged);
    const conditions = namedIn(this.conditions);
    const limits = Object.fromEntries(conditions.map((each) => [each[0], ownLimit(each, alarms.overrides)]));
    const shared = conditions.filter(isLogged).filter(([name]) => limits[name] === undefined);
    const own = conditions.filter(([name]) => !shared.some((each) => name === each[0]));
    this.all = Object.fromEntries([
      ...severities.flatMap((severity) => {
        const ofSeverity = shared.filter(([, condition]) => condition.severity === severity);
        return ofSeverity.length === 0
          ? []
          : [[SHARED[severity], this.series(severity, ofSeverity)] as const];
      }),
      ...own.map((each) => [each[0], this.single(each, limits[each[0]])] as const),
    ]);
  }

  /** Creates one alarm for all problems of a severity in the logs: each value of `problem` is a series. */
  private series(severity: Severity, conditions: readonly Logged[]): Alarm {
    this.count(severity, conditions, 'problem');
    const metric = new MathExpression({
      expression: `SELECT SUM(${severity}) FROM SCHEMA("${this.namespace}", problem) GROUP BY problem ORDER BY SUM() DESC`,
      label: SHARED[severity],
      period: FIVE_MINUTES,
    });
    const sections = conditions.flatMap(([name, { values, section = name }]) =>
      values.map((each) => {
        const what = each.startsWith(`${section}-`) ? `${section}-…` : each;
        return what === section ? what : `${what} (#${section.toLowerCase()})`;
      }),
    );
    return this.alarm(SHARED[severity], severity, {
      metric,
      threshold: 0,
      evaluationPeriods: ALARM_LASTS.toMinutes() / FIVE_MINUTES.toMinutes(),
      alarmDescription: `${FIRST_SENTENCES[severity]} The notification names the problem; its section is ${this.runbook}#PROBLEM in lower case: ${[...new Set(sections)].join(', ')}.`,
    });
  }

  /** Creates the alarm of one condition. */
  private single([name, condition]: Named, limit: number | undefined): Alarm {
    const { severity, says, section = name } = condition;
    if (!('metric' in condition)) this.count(name, [[name, condition]]);
    return this.alarm(name, severity, {
      metric: 'metric' in condition ? condition.metric : this.metric(name),
      threshold: limit ?? ('metric' in condition ? condition.above : 0),
      evaluationPeriods: 1,
      alarmDescription: `${says}${limit === undefined ? '' : ` It goes off above ${Tokenization.stringifyNumber(limit)}.`} ${this.runbook}#${section.toLowerCase()}`,
    });
  }

  private alarm(
    name: string,
    severity: Severity,
    props: Pick<AlarmProps, 'metric' | 'threshold' | 'evaluationPeriods' | 'alarmDescription'>,
  ): Alarm {
    const alarm = new Alarm(this, name, {
      ...props,
      datapointsToAlarm: 1,
      comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    });
    const actions = this.topics.of(severity).map((topic) => new SnsAction(topic));
    alarm.addAlarmAction(...actions);
    // The topics are also notified when the alarm ends.
    alarm.addOkAction(...actions);
    return alarm;
  }

  private metric(metricName: string): Metric {
    return new Metric({ namespace: this.namespace, metricName, statistic: Stats.SUM, period: FIVE_MINUTES });
  }

  /** The pattern of a condition; if all conditions of its section are in `conditions`, the pattern of the section. */
  private patternAmong([, { pattern, sectionPattern }]: Logged, conditions: readonly Logged[]): string {
    const isWhole = this.possible
      .filter(([, each]) => each.sectionPattern === sectionPattern)
      .every(([name]) => conditions.some((each) => each[0] === name));
    return sectionPattern !== undefined && isWhole ? sectionPattern : pattern;
  }

  /** Counts log lines in a metric. Each function gets a metric filter for each field that names a problem. */
  private count(metricName: string, conditions: readonly Logged[], dimension?: string): void {
    const fields = new Set(conditions.map(([, { field }]) => field));
    const functions = new Set(conditions.flatMap(([, { logs }]) => logs));
    for (const field of fields)
      for (const each of functions) {
        const ofBoth = conditions.filter(([, { field: its, logs }]) => its === field && logs.includes(each));
        const patterns = new Set(ofBoth.map((one) => `(${this.patternAmong(one, conditions)})`));
        if (patterns.size === 0) continue;
        new MetricFilter(each, `Count-${metricName}${field.replaceAll(/\W/g, '-')}`, {
          logGroup: each.function.logGroup,
          filterPattern: FilterPattern.literal(`{ ${[...patterns].join(' || ')} }`),
          metricNamespace: this.namespace,
          metricName,
          metricValue: '1',
          ...(dimension && { dimensions: { [dimension]: field } }),
        });
      }
  }
}

/** The name of the alarm of all problems of a severity in the logs. */
const SHARED = { page: 'Page', ticket: 'Ticket', notice: 'Notice' } as const satisfies Record<
  Severity,
  string
>;

const FIRST_SENTENCES: Readonly<Record<Severity, string>> = {
  page: 'Something is being lost, or does not work.',
  ticket: 'Something needs attention on a working day.',
  notice: 'Something is slower than it should be.',
};

const namedIn = (conditions: Readonly<Record<string, Condition>>): readonly Named[] =>
  Object.entries(conditions);

const isLogged = (each: Named): each is Logged => 'logs' in each[1];

/** The name of the alarm that reports a condition. */
export const alarmOf = ({ all }: Alarms, [name, { severity }]: Named): Alarm | undefined =>
  all[name] ?? all[SHARED[severity]];

type Overrides = Instance['alarms']['overrides'];

/** The threshold that the settings give to a condition, per five minutes. Such a condition needs a separate alarm. */
const ownLimit = ([name, condition]: Named, overrides: Overrides): number | undefined =>
  'byValue' in condition && condition.byValue ? undefined : overrides[name]?.threshold;

/**
 * Applies the overrides in the settings to the conditions. Throws `ConfigError` for names of conditions that do not
 * exist; the schema cannot check them, since the names depend on other settings.
 */
function overridden(
  conditions: Readonly<Record<string, Condition>>,
  overrides: Overrides,
): Readonly<Record<string, Condition>> {
  const names = Object.keys(conditions);
  const faults = Object.entries(overrides).flatMap(([name, { threshold }]) => {
    const condition = conditions[name];
    if (condition === undefined) return [`alarms.overrides.${name}: expected one of ${names.join(', ')}`];
    return threshold === undefined || condition.setBy === undefined
      ? []
      : [`alarms.overrides.${name}.threshold: this threshold is set by ${condition.setBy} instead`];
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return Object.fromEntries(
    Object.entries(conditions).flatMap(([name, condition]) => {
      const { off = false, severity = condition.severity, threshold } = overrides[name] ?? {};
      const isByValue = 'byValue' in condition && condition.byValue && threshold !== undefined;
      const limited = isByValue
        ? { pattern: condition.pattern.replace(/> .*$/, `> ${Tokenization.stringifyNumber(threshold)}`) }
        : {};
      return off ? [] : [[name, { ...condition, ...limited, severity }]];
    }),
  );
}

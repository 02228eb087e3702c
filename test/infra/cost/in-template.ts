import { cronTimes } from '../../../infra/cron-times.ts';
import { at } from '../../../infra/template-size.ts';
import { type Resource, resourcesOf, templateOf } from '../instances.ts';
import { HOURS, NIGHTS } from './counts.ts';

/** The parts of a template that cost money. */
export type InTemplate = {
  /** Metrics that alarms evaluate. */
  readonly alarmMetrics: number;
  readonly alarms: number;
  readonly dashboards: number;
  /** The number of runs that schedules start in a month. */
  readonly scheduleRuns: number;
  /** The number of tables in the catalog. */
  readonly glueTables: number;
  readonly natGateways: number;
  readonly addresses: number;
  /** The number of interface endpoints, multiplied by their zones. */
  readonly endpointZones: number;
  /** Months for which objects of a folder are stored, by its lifecycle rule; undefined: for ever. */
  readonly monthsOf: (folder: string) => number | undefined;
  /** Months for which an old version of an object is stored. */
  readonly oldMonths: number;
  /** Whether runs move to the tiers for rarely read objects. */
  readonly isTiered: boolean;
  /** Functions that are started every hour. */
  readonly hourlyFunctions: number;
  /** Functions that are started every night. */
  readonly nightlyFunctions: number;
  /** The hourly check for jobs on queues that are turned off. */
  readonly idleFunctions: number;
  /** Functions that are started every ten minutes. */
  readonly reportFunctions: number;
  readonly secrets: number;
  readonly mappings: number;
  /** Places of snapshots. */
  readonly schedules: number;
  /** The number of different times of schedules, and so of reports a night: runs that start together end together. */
  readonly times: number;
  /** Maximum number of processes that run jobs at the same time. */
  readonly workers: number;
  /** Gigabytes of memory, by the function's description. */
  readonly memoryGb: (description: string) => number;
};

type Metrics = readonly { readonly MetricStat?: unknown }[];

/** Counts what costs money in an instance's stack. */
export function countIn(instance: object): InTemplate {
  const all = resourcesOf(templateOf(instance)).map(([, resource]) => resource);
  const ofType = (type: string) =>
    all.filter(({ Type }) => Type === type).map(({ Properties }) => Properties);
  const alarms = ofType('AWS::CloudWatch::Alarm');
  const functions = ofType('AWS::Lambda::Function');
  const started = (cron: string) =>
    ofType('AWS::Scheduler::Schedule').filter(
      ({ ScheduleExpression, Target }) =>
        ScheduleExpression === cron && JSON.stringify(Target).includes('Function'),
    ).length;
  const rules = ofType('AWS::S3::Bucket').flatMap(
    (bucket) =>
      (at(bucket, 'LifecycleConfiguration', 'Rules') ?? []) as readonly Readonly<Record<string, unknown>>[],
  );
  const { schedules } = instance as { readonly schedules: readonly { readonly cron?: string }[] };
  const [{ ScalingConfig: scaling } = {}] = ofType('AWS::Lambda::EventSourceMapping');
  return {
    alarmMetrics: alarms.reduce((sum, alarm) => sum + metricsOf(alarm), 0),
    alarms: alarms.length,
    dashboards: ofType('AWS::CloudWatch::Dashboard').length,
    scheduleRuns: ofType('AWS::Scheduler::Schedule').reduce(
      (sum, { ScheduleExpression: expression }) => sum + runsInMonth(String(expression)),
      0,
    ),
    glueTables: ofType('AWS::Glue::Table').length,
    natGateways: ofType('AWS::EC2::NatGateway').length,
    addresses: ofType('AWS::EC2::EIP').length,
    endpointZones: ofType('AWS::EC2::VPCEndpoint')
      .filter(({ VpcEndpointType: type }) => type === 'Interface')
      .reduce((sum, { SubnetIds: subnets }) => sum + (subnets as readonly unknown[]).length, 0),
    monthsOf: (folder) => {
      const rule = rules.find(
        ({ Prefix, ExpirationInDays: days }) => Prefix === folder && days !== undefined,
      );
      return rule && Number(rule['ExpirationInDays']) / NIGHTS;
    },
    oldMonths:
      Number(rules.flatMap((rule) => at(rule, 'NoncurrentVersionExpiration', 'NoncurrentDays') ?? [])[0]) /
      NIGHTS,
    isTiered: JSON.stringify(rules).includes('INTELLIGENT_TIERING'),
    hourlyFunctions: started('cron(0 * * * ? *)'),
    idleFunctions: started('cron(30 * * * ? *)'),
    nightlyFunctions: started('cron(30 1 * * ? *)'),
    reportFunctions: started('cron(5/10 * * * ? *)'),
    secrets: ofType('AWS::SecretsManager::Secret').length,
    mappings: ofType('AWS::Lambda::EventSourceMapping').length,
    schedules: schedules.length,
    times: new Set(schedules.map(({ cron }) => cron)).size,
    workers: (scaling as { readonly MaximumConcurrency: number }).MaximumConcurrency,
    memoryGb: (description) => {
      const found = functions.find(({ Description }) => String(Description).startsWith(description));
      return Number(found?.['MemorySize'] ?? 0) / 1_024;
    },
  };
}

/** An alarm on a query costs as much as the series that it finds. Normally it finds none, which is counted as one here. */
const metricsOf = ({ Metrics: metrics }: Resource['Properties']): number =>
  Math.max(
    1,
    ((metrics as Metrics | undefined) ?? []).filter(({ MetricStat }) => MetricStat !== undefined).length,
  );

/** How often a cron expression fires in a month, on the assumption that it does so every day. */
function runsInMonth(expression: string): number {
  const [, cron = ''] = /^cron\((.+)\)$/.exec(expression) ?? [];
  return (cronTimes(cron).minutes.length * HOURS) / 24;
}

import { Annotations, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type IScheduleGroup,
  ScheduleExpression,
  Schedule as SchedulerSchedule,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { Universal } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';
import { METRIC_NAMESPACE, type MetricName } from '../lib/contract.ts';
import { placeOf, publishedWithinHours, type Schedule } from './config-schedules.ts';
import type { Instance } from './config-schema.ts';
import { acknowledgeWildcard } from './nag.ts';

/** A place, and within how many hours of each published run there must be another. */
export type ExpectedSnapshot = { readonly place: string; readonly hours: number };

type ExpectedSnapshotsProps = Pick<Instance, 'schedules'> & {
  readonly group: IScheduleGroup;
  /** Whose runs are counted: the dimension `service` of the metric. */
  readonly serviceName: string;
};

/**
 * Counts 0 published runs of each place that is expected to have some, every hour. Without it a place that has no run
 * yet would look like one that had its last run long ago: both have no data. So an alarm can wait for as many hours of
 * data as it looks back, and is not red from the first deployment on.
 */
export class ExpectedSnapshots extends Construct {
  readonly expected: readonly ExpectedSnapshot[];

  constructor(scope: Construct, id: string, { schedules, group, serviceName }: ExpectedSnapshotsProps) {
    super(scope, id);
    this.expected = schedules.flatMap((schedule) => {
      const hours = publishedWithinHours(schedule, schedules);
      if (hours === undefined) this.warnOf(schedule);
      return hours === undefined ? [] : [{ place: placeOf(schedule), hours }];
    });
    if (this.expected.length > 0) this.countZero(group, serviceName);
  }

  private countZero(scheduleGroup: IScheduleGroup, serviceName: string): void {
    const mayCount = new PolicyStatement({
      actions: ['cloudwatch:PutMetricData'],
      // The only one there is for this action.
      resources: ['*'],
      conditions: { StringEquals: { 'cloudwatch:namespace': METRIC_NAMESPACE } },
    });
    const { account } = Stack.of(this);
    const conditions = { StringEquals: { 'aws:SourceAccount': account } };
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', { conditions }),
    });
    acknowledgeWildcard(role, '*', 'There are no narrower resources; the condition names the namespace.');
    new SchedulerSchedule(this, 'Hourly', {
      description: 'Counts 0 published runs of each place, so that an alarm notices when none is published',
      schedule: ScheduleExpression.cron({ minute: '0' }),
      timeWindow: TimeWindow.off(),
      scheduleGroup,
      target: new Universal({
        role,
        service: 'cloudwatch',
        action: 'putMetricData',
        policyStatements: [mayCount],
        input: ScheduleTargetInput.fromObject({
          Namespace: METRIC_NAMESPACE,
          MetricData: this.expected.map(({ place }) => ({
            MetricName: 'SnapshotsPublished' satisfies MetricName,
            Dimensions: [
              { Name: 'service', Value: serviceName },
              { Name: 'place', Value: place },
            ],
            Value: 0,
            Unit: 'Count',
          })),
        }),
      }),
    });
  }

  private warnOf(schedule: Schedule): void {
    Annotations.of(this).addWarningV2(
      `platform-sync:snapshot-missing-${placeOf(schedule)}`,
      `no alarm says that a snapshot of ${placeOf(schedule)} is missing: CloudWatch looks back a week, and the time between two runs is longer, or unknown. Its failures have alarms all the same. Configure publishedWithinHours, or a cron with a run at least every 166 hours`,
    );
  }
}

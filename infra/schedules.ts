import { RemovalPolicy, Stack, TimeZone } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ContextAttribute,
  type IScheduleGroup,
  ScheduleExpression,
  ScheduleGroup,
  Schedule as SchedulerSchedule,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { SqsSendMessage } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { follows, messageOf, placeOf, type Schedule } from './config-schedules.ts';
import type { RareDeadLetters } from './queues.ts';

export type SchedulesProps = RareDeadLetters & {
  readonly schedules: readonly Schedule[];
  readonly jobs: Queue;
};

/** Puts `snapshot` jobs on the queue at their times. If that fails, they go to the dead-letter queue. */
export class Schedules extends Construct {
  /** The group of all schedules of the stack. */
  readonly group: ScheduleGroup;

  constructor(scope: Construct, id: string, { schedules, jobs, rareDeadLetters }: SchedulesProps) {
    super(scope, id);
    this.group = new ScheduleGroup(this, 'Group', { removalPolicy: RemovalPolicy.DESTROY });
    const timed = schedules.filter(({ cron }) => cron !== undefined);
    if (timed.length === 0) return;
    const role = schedulerRole(this, this.group);
    for (const schedule of timed) {
      const place = placeOf(schedule);
      const timedSchedule = new SchedulerSchedule(this, place, {
        description: `Snapshot of ${place}`,
        scheduleGroup: this.group,
        schedule: ScheduleExpression.expression(`cron(${schedule.cron})`, TimeZone.of(schedule.timeZone)),
        timeWindow: TimeWindow.off(),
        target: new SqsSendMessage(jobs, {
          // The id has the scheduled time, so that a message that is delivered twice is one job.
          input: ScheduleTargetInput.fromObject({
            ...messageOf(schedule),
            id: `${place}.${ContextAttribute.scheduledTime}`,
          }),
          deadLetterQueue: rareDeadLetters,
          retryAttempts: 24,
          role,
        }),
      });
      timedSchedule.node.addDependency(this.group);
    }
  }
}

/**
 * Creates the role of a group's schedules inside a construct. CDK's own role would be outside the construct, where its
 * permissions boundary does not apply.
 */
export function schedulerRole(scope: Construct, { scheduleGroupArn }: IScheduleGroup): Role {
  const StringEquals = { 'aws:SourceAccount': Stack.of(scope).account, 'aws:SourceArn': scheduleGroupArn };
  const assumedBy = new ServicePrincipal('scheduler.amazonaws.com', { conditions: { StringEquals } });
  return new Role(scope, 'Role', { assumedBy });
}

/** The value of SYNC_FOLLOWERS: the snapshots that follow each snapshot of calculations; undefined if none do. */
export function followersOf(schedules: readonly Schedule[]): string | undefined {
  const followers = schedules.filter(follows).map(messageOf);
  return followers.length === 0 ? undefined : JSON.stringify(followers);
}

/** The places of narrowed snapshots, each once. */
export const narrowedPlaces = (schedules: readonly Schedule[]) => [
  ...new Set(schedules.filter(({ as }) => as !== undefined).map(placeOf)),
];

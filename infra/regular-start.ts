import { type Duration, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  ContextAttribute,
  type CronOptionsWithTimezone,
  type IScheduleGroup,
  Schedule,
  ScheduleExpression,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Construct } from 'constructs';
import { acknowledgeWildcard, belowArn } from './nag.ts';
import type { RareDeadLetters } from './queues.ts';
import type { SyncFunction } from './sync-function.ts';

type RegularStart = RareDeadLetters & {
  readonly group: IScheduleGroup;
  readonly starts: SyncFunction;
  readonly description: string;
  /** The times, in UTC. */
  readonly at: CronOptionsWithTimezone;
  /** How long an undelivered start is retried: until the next start, which replaces it. */
  readonly maxEventAge: Duration;
  readonly input: object;
};

/** Starts a function at regular times, with an input. Starts that cannot be delivered become rare dead letters. */
export function startRegularly(scope: Construct, id: string, props: RegularStart): void {
  const { group, starts, description, at, maxEventAge, input, rareDeadLetters } = props;
  const role = new Role(scope, 'Role', {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  });
  const reason = 'Any version of the function: CDK grants it in addition to the function itself.';
  acknowledgeWildcard(role, belowArn(starts.function, ':*'), reason);
  const schedule = new Schedule(scope, id, {
    description,
    schedule: ScheduleExpression.cron(at),
    timeWindow: TimeWindow.off(),
    scheduleGroup: group,
    target: new LambdaInvoke(starts.function, {
      role,
      deadLetterQueue: rareDeadLetters,
      maxEventAge,
      // Lambda may delay the start, so the input has the scheduled time.
      input: ScheduleTargetInput.fromObject({ ...input, scheduledAt: ContextAttribute.scheduledTime }),
    }),
  });
  // CDK writes the group's name instead of a reference, so CloudFormation needs the dependency to create the group first.
  schedule.node.addDependency(group);
}

import { TimeZone } from 'aws-cdk-lib';
import {
  type IScheduleGroup,
  type IScheduleTarget,
  Schedule,
  ScheduleExpression,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke, SqsSendMessage } from 'aws-cdk-lib/aws-scheduler-targets';
import { Construct } from 'constructs';
import { SCHEDULED_TIME, type ScheduledFunction } from './config-functions.ts';
import type { OwnQueue } from './jobs.ts';
import { acknowledgeWildcard, belowArn } from './nag.ts';
import type { RareDeadLetters } from './queues.ts';
import { schedulerRole } from './schedules.ts';
import type { SyncFunction } from './sync-function.ts';

type ScheduledFunctionsProps = RareDeadLetters & {
  readonly functions: readonly ScheduledFunction[];
  readonly group: IScheduleGroup;
  /** The queue of their jobs, and the function that takes its messages. */
  readonly jobs: OwnQueue;
  /** The function that looks for jobs that do not arrive. */
  readonly watch: SyncFunction;
};

/**
 * Puts `run-function` jobs on the queue at their times. At the same times it reports to `watch-snapshots` that they are
 * due, so that an alarm goes off if no worker takes a job within an hour. Both messages have the scheduled time, so a
 * message that is delivered twice is one job. Messages that cannot be delivered go to the dead-letter queue.
 */
export class ScheduledFunctions extends Construct {
  constructor(scope: Construct, id: string, props: ScheduledFunctionsProps) {
    super(scope, id);
    const { functions, group, jobs, watch, rareDeadLetters: deadLetterQueue } = props;
    if (functions.length === 0) return;
    const role = schedulerRole(this, group);
    const reason = 'Any version of the function: CDK grants it in addition to the function itself.';
    acknowledgeWildcard(role, belowArn(watch.function, ':*'), reason);
    const common = { role, deadLetterQueue, retryAttempts: 24 };
    for (const each of functions) {
      const job = `${each.name}.${SCHEDULED_TIME}`;
      const input = ScheduleTargetInput.fromObject({ ...messageOf(each), id: job });
      const due = ScheduleTargetInput.fromObject({ due: job });
      const message = this.schedule(each, `Runs ${each.functionName}`, {
        group,
        target: new SqsSendMessage(jobs.queue, { ...common, input }),
      });
      // An update must deploy the function before the schedule, since the schedule may write messages in a new format.
      message.node.addDependency(jobs.worker.function);
      this.schedule(each, `Records that ${each.functionName} is due`, {
        group,
        target: new LambdaInvoke(watch.function, { ...common, input: due }),
      });
    }
  }

  private schedule(
    { name, cron, timeZone }: ScheduledFunction,
    description: string,
    { group, target }: { readonly group: IScheduleGroup; readonly target: IScheduleTarget },
  ): Schedule {
    const schedule = new Schedule(this, target instanceof LambdaInvoke ? `${name}-due` : name, {
      description,
      scheduleGroup: group,
      schedule: ScheduleExpression.expression(`cron(${cron})`, TimeZone.of(timeZone)),
      timeWindow: TimeWindow.off(),
      target,
    });
    // CDK writes the group's name instead of a reference, so CloudFormation needs the dependency to create the group first.
    schedule.node.addDependency(group);
    return schedule;
  }
}

/** The `run-function` message of a schedule, without an id. */
function messageOf({ name: _name, cron: _cron, timeZone: _zone, ...job }: ScheduledFunction): object {
  return { version: 1, type: 'run-function', ...job };
}

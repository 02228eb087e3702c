import { Annotations, Duration, Stack } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  type IScheduleGroup,
  ScheduleExpression,
  Schedule as SchedulerSchedule,
  ScheduleTargetInput,
  TimeWindow,
} from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { type CommonEnvironment, type FunctionEnvironment, sources } from '../lib/contract.ts';
import { placeOf, type Schedule } from './config-schedules.ts';
import { acknowledgeWildcard, belowArn } from './nag.ts';
import type { RareDeadLetters } from './queues.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, LONGEST, SyncFunction } from './sync-function.ts';

type ReportsProps = FunctionDefaults & {
  readonly environment: CommonEnvironment;
  readonly storage: Storage;
};

type StartProps = RareDeadLetters & {
  readonly group: IScheduleGroup;
  readonly schedules: readonly Schedule[];
  /** Who is notified: digests go there. */
  readonly topics: readonly ITopic[];
};

/** Writes the report after a publication, and sends digests of published runs. */
export class Reports extends Construct {
  readonly write: SyncFunction;

  constructor(scope: Construct, id: string, { logs, network, environment, storage }: ReportsProps) {
    super(scope, id);
    this.write = new SyncFunction(this, 'Write', {
      logs,
      network,
      handler: 'write-report',
      description: 'Writes the report and sends digests',
      timeout: LONGEST,
      // One whole processor; the memory of a million calculations is less than a third of it.
      memoryMb: 1_769,
      // It looks again in ten minutes.
      retryAttempts: 0,
      environment: { ...environment } satisfies FunctionEnvironment,
    });
    storage.grantRead(this.write.role, [
      ...sources.flatMap((source) => [`${source}/*`, `${source}.*`]),
      ...['changes/*', 'results/*', 'scores/*', 'formulas/*', 'parquet/*', 'model/*', 'work/*', 'report/*'],
    ]);
    storage.grantWrite(this.write.role, ['report/*', 'work/report.json', 'parquet/uses/*', 'model/*']);
    storage.grantDelete(this.write.role, ['model/*']);
  }

  /**
   * Looks every ten minutes whether something was published. Events of S3 could say so, but they would have to wait
   * somewhere until ten minutes are over: a queue that Lambda polls costs $0.26 a month, a look a fifth of that, and
   * what an event that was lost or failed would miss, the next look finds.
   */
  start({ group, schedules, topics, rareDeadLetters }: StartProps): void {
    const { account } = Stack.of(this);
    const conditions = { StringEquals: { 'aws:SourceAccount': account } };
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', { conditions }),
    });
    const reason = 'Any version of one function; CDK grants it beside the function itself.';
    acknowledgeWildcard(role, belowArn(this.write.function, ':*'), reason);
    new SchedulerSchedule(this, 'Look', {
      description: 'Looks for runs that the report does not show',
      schedule: ScheduleExpression.cron({ minute: '5/10' }),
      timeWindow: TimeWindow.off(),
      scheduleGroup: group,
      target: new LambdaInvoke(this.write.function, {
        role,
        deadLetterQueue: rareDeadLetters,
        // The next one is soon.
        maxEventAge: Duration.minutes(10),
        input: ScheduleTargetInput.fromObject({
          places: [...new Set(schedules.map(placeOf))],
          ...this.digests(schedules, topics),
        }),
      }),
    });
  }

  /** Which places have a digest, and where it goes; the function may publish there, and nowhere else. */
  private digests(schedules: readonly Schedule[], topics: readonly ITopic[]) {
    const places = schedules.filter(({ digest }) => digest).map(placeOf);
    if (places.length === 0) return {};
    if (topics.length === 0)
      Annotations.of(this).addWarningV2(
        'platform-sync:digests',
        `nobody receives the digests of ${places.join(', ')}: configure alarms.email, alarms.slack, alarms.topicArn or alarms.topics.notice`,
      );
    if (topics.length === 0) return {};
    for (const topic of topics) topic.grantPublish(this.write.role);
    return { digests: { places, topics: topics.map(({ topicArn }) => topicArn) } };
  }
}

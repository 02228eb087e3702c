import { Annotations, Duration } from 'aws-cdk-lib';
import type { IScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { type CommonEnvironment, type FunctionEnvironment, sources } from '../lib/contract.ts';
import { placeOf, type Schedule } from './config-schedules.ts';
import type { RareDeadLetters } from './queues.ts';
import { startRegularly } from './regular-start.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, MAX_TIMEOUT, SyncFunction } from './sync-function.ts';

type ReportsProps = FunctionDefaults & {
  readonly environment: CommonEnvironment;
  readonly storage: Storage;
};

type StartProps = RareDeadLetters & {
  readonly group: IScheduleGroup;
  readonly schedules: readonly Schedule[];
  /** The topics of notices, to which digests are sent. */
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
      timeout: MAX_TIMEOUT,
      // With this memory, Lambda gives one full CPU. The model of a million calculations takes less than a third.
      memoryMb: 1_769,
      // No retries, since the function runs again in ten minutes.
      retryAttempts: 0,
      environment: { ...environment } satisfies FunctionEnvironment,
    });
    storage.grantRead(this.write.role, [
      ...sources.flatMap((source) => [`${source}/*`, `${source}.*`]),
      ...['changes/*', 'results/*', 'scores/*', 'formulas/*', 'parquet/*', 'model/*', 'work/*', 'report/*'],
    ]);
    storage.grantWrite(this.write.role, [
      'report/*',
      'work/report-failures.json',
      'parquet/uses/*',
      'model/*',
    ]);
    storage.grantDelete(this.write.role, ['model/*']);
  }

  /**
   * Starts the function every ten minutes. The alternative, an SQS queue of S3 events that Lambda polls, would cost
   * three times as much ($0.26 a month), and would depend on events that may be lost.
   */
  start({ group, schedules, topics, rareDeadLetters }: StartProps): void {
    startRegularly(this, 'FindNewRuns', {
      group,
      rareDeadLetters,
      starts: this.write,
      description: 'Checks for runs that are not in the report yet',
      at: { minute: '5/10' },
      maxEventAge: Duration.minutes(10),
      input: { places: [...new Set(schedules.map(placeOf))], ...this.digests(schedules, topics) },
    });
  }

  /** The places with a digest, and its topics; the function may publish only to these. */
  private digests(schedules: readonly Schedule[], topics: readonly ITopic[]) {
    const places = schedules.filter(({ digest }) => digest).map(placeOf);
    if (places.length === 0) return {};
    if (topics.length === 0)
      Annotations.of(this).addWarningV2(
        'platform-sync:digests',
        `digests of ${places.join(', ')} have no recipient: configure alarms.email, alarms.slack, alarms.topicArn or alarms.topics.notice`,
      );
    if (topics.length === 0) return {};
    for (const topic of topics) topic.grantPublish(this.write.role);
    return { digests: { places, topics: topics.map(({ topicArn }) => topicArn) } };
  }
}

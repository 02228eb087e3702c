import { Annotations, Duration } from 'aws-cdk-lib';
import type { IScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import {
  type CommonEnvironment,
  type ExpectedSnapshot,
  type FunctionEnvironment,
  sources,
} from '../lib/contract.ts';
import { placeOf, publishedWithinHours, type Schedule } from './config-schedules.ts';
import type { Instance } from './config-schema.ts';
import type { RareDeadLetters } from './queues.ts';
import { startRegularly } from './regular-start.ts';
import type { Storage } from './storage.ts';
import { type FunctionDefaults, SyncFunction } from './sync-function.ts';

type ExpectedSnapshotsProps = FunctionDefaults &
  RareDeadLetters &
  Pick<Instance, 'schedules'> & {
    readonly group: IScheduleGroup;
    readonly environment: CommonEnvironment;
    readonly storage: Storage;
  };

/**
 * Looks every hour how old the newest published run of each place is, and whether the platform refuses the token, and
 * reports it again until it is over. An alarm could look for runs itself, but only a week back, and would be red from the
 * first deployment on unless something counted zeros; both would cost a metric for each place. What looks needs the store
 * and the table, so that it also notices when they are gone while nothing else works.
 */
export class ExpectedSnapshots extends Construct {
  readonly expected: readonly ExpectedSnapshot[];
  /** Looks. */
  readonly watch: SyncFunction;

  constructor(scope: Construct, id: string, props: ExpectedSnapshotsProps) {
    super(scope, id);
    const { schedules } = props;
    this.expected = schedules.flatMap((schedule) => {
      const hours = publishedWithinHours(schedule, schedules);
      if (hours === undefined) this.warnOf(schedule);
      return hours === undefined ? [] : [{ place: placeOf(schedule), hours }];
    });
    this.watch = this.watchFunction(props);
    startRegularly(this, 'Hourly', {
      ...props,
      starts: this.watch,
      description: 'Looks for missing snapshots and a refused token',
      at: { minute: '0' },
      maxEventAge: Duration.hours(1),
      input: { expected: this.expected },
    });
  }

  private watchFunction({ logs, network, environment, storage }: ExpectedSnapshotsProps): SyncFunction {
    const watch = new SyncFunction(this, 'Watch', {
      logs,
      network,
      handler: 'watch-snapshots',
      description: 'Looks for missing snapshots and a refused token',
      timeout: Duration.minutes(2),
      memoryMb: 256,
      // It looks again in an hour.
      retryAttempts: 2,
      environment: { ...environment } satisfies FunctionEnvironment,
    });
    storage.grantRead(watch.role, [...sources.flatMap((source) => [`${source}/*`, `${source}.*`]), STATE]);
    storage.grantWrite(watch.role, [STATE]);
    storage.grantRows(watch.role, 'dynamodb:GetItem');
    return watch;
  }

  private warnOf(schedule: Schedule): void {
    Annotations.of(this).addWarningV2(
      `platform-sync:snapshot-missing-${placeOf(schedule)}`,
      `no alarm says that a snapshot of ${placeOf(schedule)} is missing: the time between two runs is not known. Its failures have alarms all the same. Configure publishedWithinHours, or a cron with two runs in the next years`,
    );
  }
}

/** Since when what is expected. */
const STATE = 'work/expected-snapshots.json';

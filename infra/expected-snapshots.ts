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
  Pick<Instance, 'schedules' | 'functions'> & {
    readonly group: IScheduleGroup;
    readonly environment: CommonEnvironment;
    readonly storage: Storage;
  };

/**
 * A function that checks, every hour, how old the newest published run of each place is, and whether the platform refuses
 * the token. It reports each problem until it is over. At the times of scheduled functions it records that their jobs are
 * due, and it looks for jobs that did not arrive. It uses the store and the table, so it also notices if they are missing
 * while nothing else runs.
 * An alarm on a metric of runs would not do: it could look back only a week, would be red from the first deployment on
 * unless something counted zeros, and would cost a metric for each place.
 */
export class ExpectedSnapshots extends Construct {
  readonly expected: readonly ExpectedSnapshot[];
  /** The function that checks for missing snapshots. */
  readonly watch: SyncFunction;

  constructor(scope: Construct, id: string, props: ExpectedSnapshotsProps) {
    super(scope, id);
    const { schedules, functions } = props;
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
      input: { expected: this.expected, functions: functions.map(({ name }) => name) },
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
      // It runs again in an hour.
      retryAttempts: 2,
      environment: { ...environment } satisfies FunctionEnvironment,
    });
    storage.grantRead(watch.role, [...sources.flatMap((source) => [`${source}/*`, `${source}.*`]), STATE]);
    storage.grantWrite(watch.role, [STATE, DUE]);
    storage.grantDelete(watch.role, [DUE]);
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

/** The schedules, with the time from which their snapshots are expected. */
const STATE = 'work/expected-snapshots.json';

/** The jobs of scheduled functions that are due. */
const DUE = 'work/expected-jobs/*';
